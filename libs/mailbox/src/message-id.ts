import { createHash, randomBytes } from 'node:crypto';

/** `msg_` and 12 random hex digits (seed 000 §3.2). */
export function newMessageId(): string {
  return `msg_${randomBytes(6).toString('hex')}`;
}

/** The same id for the same parts: a repeated request or a step that is run again sends the same message. */
export function derivedMessageId(...parts: readonly (string | number)[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)}`;
}

/** The run that a user's message starts, derived from it. */
export function runIdOf(msgId: string): string {
  return `run_${msgId.slice(4)}`;
}
