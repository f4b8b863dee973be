import { readArguments } from '@mailroom/capabilities';

/** What a sub-agent is asked. */
export interface HandoffInput {
  task: string;
  context?: string;
}

/**
 * Whatever a model wrote as arguments of a handoff: `task`, else `input`, else the JSON itself; text that is no JSON is
 * the task. Nothing gives an empty task.
 */
export function readHandoffInput(text: string): HandoffInput {
  if (text.trim() === '') return { task: '' };
  const read = readArguments(text);
  if (!read.ok) return { task: text.trim() };
  const { task, input, context } = read.value as Record<string, unknown>;
  const asked = textOf(task) ?? textOf(input) ?? (Object.keys(read.value as object).length === 0 ? '' : text.trim());
  const more = textOf(context);
  return { task: asked, ...(more !== undefined && { context: more }) };
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.trim() === '' ? undefined : text;
}
