/** The lines of an event stream, as servers write them. */
export function data(payload: unknown): string {
  return `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;
}

export function chunk(
  delta: Record<string, unknown>,
  more: Record<string, unknown> = {},
  finish: string | null = null,
): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return data({ id: 'chatcmpl-t', object: 'chat.completion.chunk', created: 1, model: 'served', choices, ...more });
}

export const DONE = data('[DONE]');

/** The given deltas as one whole stream. */
export function stream(...deltas: Record<string, unknown>[]): string {
  return `${deltas.map((delta) => chunk(delta)).join('')}${chunk({}, {}, 'stop')}${DONE}`;
}

/** A delta with the given tool call entries. */
export function calls(...entries: Record<string, unknown>[]): Record<string, unknown> {
  return { tool_calls: entries };
}
