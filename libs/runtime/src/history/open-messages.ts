import type { AgentMessage } from '@mailroom/contracts';
import type { Inbox } from '@mailroom/mailbox';
import type { Memory } from '../memory';
import { sentMail } from './sent-mail';

/**
 * Ids of the messages before `upTo` that are not done with: open tasks with their revisions, questions without an
 * answer, and what the user asked in this run. They outlive a summary word for word (R22).
 */
export function openMessages(inbox: Inbox, memory: Memory, upTo: number): string[] {
  const open = new Set([...inbox.tasks, ...inbox.questions].map(({ id }) => id));
  const runBegan = memory.entries.findLastIndex((entry) => entry.kind === 'assistant' && entry.runId !== inbox.runId);
  const received = memory.entries.slice(0, upTo).flatMap((entry, index) => {
    const isOfRun = index > runBegan;
    const mail = entry.kind === 'mail' ? entry.ids.flatMap((id) => memory.messages.get(id) ?? []) : [];
    return mail.map((message) => ({ message, isAsked: isOfRun && message.from === 'user' }));
  });
  const amended = new Set<string>();
  const kept: string[] = [];
  const look = (message: Pick<AgentMessage, 'msgId' | 'to' | 'type'>, isAsked: boolean) => {
    const isTask = open.has(message.msgId);
    if (isTask) amended.add(message.to);
    if (isTask || isAsked || (message.type === 'revision' && amended.has(message.to))) kept.push(message.msgId);
  };
  for (const { message, isAsked } of received) look(message, isAsked);
  for (const message of sentMail(memory, upTo)) look(message, false);
  return kept;
}
