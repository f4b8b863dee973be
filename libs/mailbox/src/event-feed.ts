import { EVENT_TYPES, type SessionEvent } from '@mailroom/contracts';
import type { Redis } from 'ioredis';
import { MailboxKeys } from './keys';
import type { Notifications } from './notifications';
import { isoTime, toEvent } from './records';

const PAGE = 500;

/** Reads a session's event stream: in pages, and live. */
export class EventFeed {
  private readonly keys: MailboxKeys;

  constructor(
    private readonly redis: Redis,
    private readonly notifications: Notifications,
    prefix: string,
  ) {
    this.keys = new MailboxKeys(prefix);
  }

  /** Events after the cursor (`''` = from the start), oldest first, at most `count`. */
  async read(sessionId: string, after: string, count = PAGE): Promise<SessionEvent[]> {
    const from = after === '' ? '-' : `(${after}`;
    const entries = await this.redis.xrange(this.keys.of('events', sessionId), from, '+', 'COUNT', count);
    return entries.map((entry) => toEvent(sessionId, entry as [string, string[]]));
  }

  /** Whether events of the session were trimmed so far. */
  async isTrimmed(sessionId: string): Promise<boolean> {
    const key = this.keys.of('events', sessionId);
    if ((await this.redis.xlen(key)) === 0) return false;
    const facts = (await this.redis.xinfo('STREAM', key)) as unknown[];
    const fact = (name: string) => Number(facts[facts.indexOf(name) + 1]);
    return fact('entries-added') > fact('length');
  }

  /**
   * Events after the cursor as they come, each once and in order, until the signal aborts. When entries after the cursor
   * were trimmed, or Redis has lost the entry at the cursor, a `reset` event comes and then all that is there; at the
   * beginning as well as later.
   */
  async *follow(sessionId: string, after: string, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    let wake: (() => void) | undefined;
    let hinted = false;
    const hint = () => {
      hinted = true;
      wake?.();
    };
    const stop = await this.notifications.onEvents(sessionId, hint);
    signal.addEventListener('abort', hint, { once: true });
    try {
      let cursor = after;
      while (!signal.aborted) {
        hinted = false;
        const events = await this.next(sessionId, cursor);
        for (const event of events) {
          if (signal.aborted) return;
          cursor = event.event === 'reset' ? '' : event.id;
          yield event;
        }
        if (events.length === PAGE || events.at(-1)?.event === 'reset' || hinted) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (hinted) resolve();
        });
      }
    } finally {
      signal.removeEventListener('abort', hint);
      stop();
    }
  }

  /** Events after the cursor, or one `reset` when they cannot be told any more. */
  private async next(sessionId: string, cursor: string): Promise<SessionEvent[]> {
    if (cursor === '') return this.read(sessionId, '');
    const key = this.keys.of('events', sessionId);
    const entries = await this.redis.xrange(key, cursor, '+', 'COUNT', PAGE + 1);
    // The cursor's own entry is the proof that nothing behind it was trimmed, and that Redis did not lose it.
    if (entries[0]?.[0] === cursor)
      return entries.slice(1).map((entry) => toEvent(sessionId, entry as [string, string[]]));
    const [first, last] = await Promise.all([
      this.redis.xrange(key, '-', '+', 'COUNT', 1),
      this.redis.xrevrange(key, '+', '-', 'COUNT', 1),
    ]);
    if (first.length === 0) return [];
    return [
      {
        id: '0-0',
        event: 'reset',
        type: EVENT_TYPES.reset,
        sessionId,
        at: isoTime(Date.now()),
        data: { after: cursor, first: first[0]?.[0], last: last[0]?.[0] },
      },
    ];
  }
}
