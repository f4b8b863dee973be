import type { AssistantEntry } from '@mailroom/contracts';
import type { Memory } from '../memory';
import type { SentMessage } from '../prompt/inbox-block';

/** The messages that an agent itself sent in the entries before `to`, from its own calls; oldest first. */
export function sentMail(memory: Memory, to: number): SentMessage[] {
  const sent: SentMessage[] = [];
  let answer: AssistantEntry | undefined;
  for (const entry of memory.entries.slice(0, to)) {
    if (entry.kind === 'assistant') answer = entry;
    if (entry.kind !== 'sent' || entry.code !== 'ok') continue;
    const call = answer?.toolCalls.find(({ id }) => id === entry.callId);
    if (call) sent.push({ msgId: entry.msgId, ...(JSON.parse(call.arguments) as Omit<SentMessage, 'msgId'>) });
  }
  return sent;
}
