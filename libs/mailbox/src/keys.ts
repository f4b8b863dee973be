const SLOTS = 64;

/** All slots of the due index, in order: `{s00}` … `{s63}`. */
export const ALL_SLOTS: readonly string[] = Array.from({ length: SLOTS }, (_, slot) => slotName(slot));

/**
 * Builds every Redis key. All keys of a session carry one hash tag, so that one script can change a session atomically
 * on Redis Cluster; the slot is derived from the session id alone. Scripts build the same names in
 * `lua/include/session.lua`.
 */
export class MailboxKeys {
  constructor(readonly prefix: string) {}

  /** The hash tag of a session: `{sNN}`. */
  slot(sessionId: string): string {
    return slotName(fnv1a(sessionId) % SLOTS);
  }

  of(kind: string, sessionId: string, name?: string): string {
    const key = `${this.prefix}:${kind}:${this.slot(sessionId)}:${sessionId}`;
    return name === undefined ? key : `${key}:${name}`;
  }

  due(slot: string): string {
    return `${this.prefix}:due:${slot}`;
  }

  /** Wake-ups of agents. */
  notifyChannel(sessionId: string): string {
    return this.of('agent:notify', sessionId);
  }

  /** Hints that a session's event stream has grown. */
  eventsChannel(sessionId: string): string {
    return this.of('events:notify', sessionId);
  }

  /** Runs of a session that have settled. */
  runsChannel(sessionId: string): string {
    return this.of('runs:notify', sessionId);
  }

  /** Definitions of one owner: a space, or the read-only files. */
  definitions(owner: string): string {
    return `${this.prefix}:definitions:${owner}`;
  }

  /** Changes whenever a definition is written, whoever owns it. */
  definitionsVersion(): string {
    return `${this.prefix}:definitions-version`;
  }

  /** Sessions of a space by creation time. */
  sessions(space: string): string {
    return `${this.prefix}:sessions:${space}`;
  }

  /** Sessions of a space by creation time, for as long as they have an account. */
  accounts(space: string): string {
    return `${this.prefix}:accounts:${space}`;
  }

  schema(): string {
    return `${this.prefix}:schema`;
  }
}

function slotName(slot: number): string {
  return `{s${String(slot).padStart(2, '0')}}`;
}

/** A spread over the slots is all that is asked for, and it is asked for with every command. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
