import type { ModelRequestBody } from './model-server';

/** A call of a colleague as a model makes it. */
export function handoffTo(name: string, task = `a task for ${name}`, context?: string) {
  return { name: `subagent_${name}`, args: { task, ...(context !== undefined && { context }) } };
}

/** The tool results of the last answer that a request shows, in order. */
export function resultsIn(request: ModelRequestBody | undefined): string[] {
  const messages = request?.messages ?? [];
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(last + 1).flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
}
