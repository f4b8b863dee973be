import type { Letter } from './mailbox';

/** A message's words as they are stored. Where it was sent from comes first: `send.lua` takes it off when it compares. */
export function storedBody({
  traceparent,
  content,
  context,
}: Pick<Letter, 'traceparent' | 'content' | 'context'>): string {
  return JSON.stringify({ traceparent, content, context });
}
