/** What the model of the bench decides an answer from. */
export interface ModelRequest {
  model: string;
  stream?: boolean;
  messages: { role: string; content: string | null }[];
  tools?: { function: { name: string } }[];
}

/** What it says: a text, or tool calls. */
export interface ScriptedAnswer {
  text?: string;
  calls?: { name: string; args: object }[];
}
