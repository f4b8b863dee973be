/** A tool as a model is told of it; `parameters` is the JSON schema of an object. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}
