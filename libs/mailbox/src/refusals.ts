import { AppError, type ErrorCode, type SendCode } from '@mailroom/contracts';

const ERROR_OF: Partial<Record<SendCode, ErrorCode>> = {
  mailbox_full: 'mailbox_full',
  run_busy: 'run_busy',
  budget_spent: 'budget_spent',
  session_closed: 'session_closed',
  agent_unavailable: 'agent_unavailable',
  body_too_large: 'payload_too_large',
  id_taken: 'idempotency_conflict',
};

/** What a refusal of the mailbox means to a person; the sentences for models are in the runtime. */
const SENTENCES: Partial<Record<SendCode, string>> = {
  mailbox_full: 'the mailbox is full: wait until the agent has read it',
  run_busy: 'a run is on and the message asked to be rejected then: wait for its end, or send it with onBusy "steer"',
  budget_spent: 'the session has spent its budget: open another one',
  session_closed: 'the session has ended: open another one',
  id_taken: 'this Idempotency-Key was used for another message: choose another key',
  unknown_recipient: 'the recipient is not a member of the session',
};

/** A refused `send` as an error. */
export function refusal(code: SendCode, detail: readonly string[] = []): AppError {
  const sentence = SENTENCES[code] ?? `the message was refused: ${code}`;
  return new AppError(
    ERROR_OF[code] ?? 'invalid_request',
    detail.length ? `${sentence} (${detail.join(', ')})` : sentence,
  );
}

/** A refused write of an activation as an error. */
export function fenceError(code: string, agent: string): AppError {
  if (code === 'cancelled') return new AppError('cancelled', `the work of "${agent}" was cancelled`);
  if (code === 'closed') return new AppError('session_closed', 'the session has ended');
  if (code === 'out_of_step')
    return new AppError('out_of_step', `the memory of "${agent}" has moved on: read it again`);
  return new AppError('lease_lost', `another activation of "${agent}" has taken over`);
}
