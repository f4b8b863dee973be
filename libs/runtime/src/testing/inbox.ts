import type { Inbox } from '@mailroom/mailbox';

/** A look into an empty mailbox in which a run has begun, with the given fields. */
export function inboxWith(fields: Partial<Inbox> = {}): Inbox {
  return {
    fence: { sessionId: 's', agent: 'a', epoch: 1, token: 't', sessionCancel: 0, agentCancel: 0, n: 0 },
    tail: 'model',
    work: true,
    step: 0,
    tries: 1,
    openCalls: [],
    runId: 'run',
    tasks: [],
    questions: [],
    states: {},
    entries: [],
    messages: new Map(),
    ...fields,
  };
}
