import type { ExitReason, JournalEntry } from '@mailroom/contracts';
import type { Inbox, Lease, Tail } from './lease';
import { parseMessage, toQuestions, toTasks } from './records';

interface DrainReply {
  n: number;
  tail: Tail;
  work: boolean;
  waitMs?: number;
  sessionCancel?: number;
  agentCancel?: number;
  leave?: string;
  run?: string;
  final?: string;
  step: number;
  tries?: number;
  calls?: string;
  tasks?: Parameters<typeof toTasks>[0];
  questions?: Parameters<typeof toQuestions>[0];
  states?: Record<string, [string, Tail]>;
}

/** The reply of `drain.lua` as the runtime reads it. */
export function parseInbox(lease: Lease, head: object, entries: readonly string[], messages: readonly string[]): Inbox {
  const reply = head as DrainReply;
  const parsed = messages.map(parseMessage);
  return {
    // Not `...lease`: V8 gives each such copy a hidden class of its own, larger than the fence itself.
    fence: {
      sessionId: lease.sessionId,
      agent: lease.agent,
      epoch: lease.epoch,
      token: lease.token,
      sessionCancel: reply.sessionCancel ?? 0,
      agentCancel: reply.agentCancel ?? 0,
      n: reply.n,
    },
    tail: reply.tail,
    work: reply.work,
    step: reply.step,
    tries: reply.tries ?? 1,
    ...(reply.waitMs !== undefined && { waitMs: reply.waitMs }),
    ...(reply.leave && { leave: reply.leave as ExitReason }),
    ...(reply.run && { runId: reply.run }),
    ...(reply.final && { final: reply.final }),
    openCalls: JSON.parse(reply.calls ?? '[]') as string[],
    tasks: toTasks(reply.tasks ?? {}),
    questions: toQuestions(reply.questions ?? {}),
    states: Object.fromEntries(
      Object.entries(reply.states ?? {}).map(([name, [state, tail]]) => [name, { state, tail }]),
    ),
    entries: entries.map((entry) => JSON.parse(entry) as JournalEntry),
    messages: new Map(parsed.map((message) => [message.msgId, message])),
  };
}
