import { hash, randomUUID } from 'node:crypto';

/** `msg_` and 12 random hex digits (seed 000 §3.2). */
export function newMessageId(): string {
  // The last part of a random UUID is all random; unlike bytes, UUIDs are made many at a time.
  return `msg_${randomUUID().slice(-12)}`;
}

/** The same id for the same parts: a repeated request or a step that is run again sends the same message. */
export function derivedMessageId(...parts: readonly (string | number)[]): string {
  return `msg_${hash('sha256', JSON.stringify(parts)).slice(0, 12)}`;
}

/** The run that a user's message starts, derived from it. */
export function runIdOf(msgId: string): string {
  return `run_${msgId.slice(4)}`;
}
