import type { SummaryEntry } from '@mailroom/contracts';
import type { Memory } from '../memory';
import { engineBlock, inboxBlock, neutralise, sentBlock } from '../prompt/inbox-block';
import { cutMessages } from './cut-body';
import { sentMail } from './sent-mail';

const IN_PLACE =
  'The earlier part of this conversation is not shown any more. This text, written by you, is in its place.';
const STILL_OPEN = 'Of that part, these messages were still open:';

/** The summary that a prompt shows in place of what it covers: the latest one. */
export function shownSummary(memory: Memory): SummaryEntry | undefined {
  return memory.entries.findLast((entry) => entry.kind === 'summary');
}

/** A summary as the model reads it, with the messages that were open when it was made (R22). */
export function summaryBlock(summary: SummaryEntry, memory: Memory, window: number | undefined): string {
  const lines = [`<summary>\n${IN_PLACE}\n\n${neutralise(summary.text)}\n</summary>`];
  const kept = summary.kept ?? [];
  if (kept.length === 0) return lines.join('');
  const received = kept.flatMap((id) => memory.messages.get(id) ?? []);
  const own = sentMail(memory, summary.upTo).filter(({ msgId }) => kept.includes(msgId));
  const shown = cutMessages(summary, [...received, ...own], window);
  lines.push(engineBlock(STILL_OPEN));
  if (received.length > 0) lines.push(inboxBlock(shown.slice(0, received.length) as typeof received));
  if (own.length > 0) lines.push(sentBlock(shown.slice(received.length)));
  return lines.join('\n');
}
