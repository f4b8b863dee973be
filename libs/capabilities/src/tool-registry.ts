import { AppError, type ToolSpec } from '@mailroom/contracts';
import { z } from 'zod';
import type { Tool } from './tool';

/** Names that the runtime answers itself. */
export const RESERVED_TOOL_NAMES = ['send_message', 'wait_for_messages', 'answer_question', 'read_message'] as const;

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The tools that a process offers; which of them an agent has is in its definition. Never changes after construction. */
export class ToolRegistry {
  private readonly tools = new Map<string, Tool>();
  private readonly specsByName = new Map<string, ToolSpec>();

  /**
   * Throws `misconfigured` for a name that is taken, reserved or not `[a-zA-Z0-9_-]{1,64}`, and for parameters that
   * are no object or have no JSON schema.
   */
  constructor(tools: readonly Tool[]) {
    for (const tool of tools) {
      const { name, description } = tool;
      if (!TOOL_NAME.test(name)) throw refused(name, 'a name has 1 to 64 of the letters a-z, A-Z, 0-9, "_" and "-"');
      if ((RESERVED_TOOL_NAMES as readonly string[]).includes(name))
        throw refused(name, 'the runtime has a tool of this name');
      if (this.tools.has(name)) throw refused(name, 'two tools have this name');
      this.tools.set(name, tool);
      this.specsByName.set(name, { name, description, parameters: parameterSchema(tool) });
    }
  }

  get(name: string): Tool | undefined {
    return this.tools.get(name);
  }

  /** All names, in the order of construction. */
  names(): string[] {
    return [...this.tools.keys()];
  }

  /** What to tell a model about the tools of these names, each once, in the order asked; and the names nobody knows. */
  specs(names: readonly string[]): { specs: ToolSpec[]; unknown: string[] } {
    const specs: ToolSpec[] = [];
    const unknown: string[] = [];
    for (const name of new Set(names)) {
      const spec = this.specsByName.get(name);
      if (spec) specs.push(spec);
      else unknown.push(name);
    }
    return { specs, unknown };
  }
}

/**
 * The JSON schema of what a caller may send (a field with a default is optional). Throws `misconfigured` when the
 * parameters are no object or have no JSON schema.
 */
export function parameterSchema(tool: Tool): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = jsonSchema(tool);
  if (schema.type !== 'object') throw refused(tool.name, 'its parameters have to be a zod object');
  return schema;
}

function jsonSchema(tool: Tool): Record<string, unknown> {
  try {
    return z.toJSONSchema(tool.parameters, { io: 'input' });
  } catch (cause) {
    throw new AppError('misconfigured', `the tool "${tool.name}" is refused: its parameters have no JSON schema`, {
      cause,
    });
  }
}

function refused(name: string, reason: string): AppError {
  return new AppError('misconfigured', `the tool "${name}" is refused: ${reason}`);
}
