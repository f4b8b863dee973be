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

  /**
   * Events after the cursor as they come, each once and in order, until the signal aborts. A cursor whose next entries
   * were trimmed, or that is ahead of the stream, yields one `reset` event first and then all that is there.
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
      const gap = await this.gapAfter(sessionId, cursor);
      if (gap) {
        cursor = '';
        yield gap;
      }
      while (!signal.aborted) {
        hinted = false;
        const events = await this.read(sessionId, cursor);
        for (const event of events) {
          if (signal.aborted) return;
          cursor = event.id;
          yield event;
        }
        if (events.length === PAGE || hinted) continue;
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

  private async gapAfter(sessionId: string, cursor: string): Promise<SessionEvent | undefined> {
    if (cursor === '') return undefined;
    const key = this.keys.of('events', sessionId);
    const [at, first, last] = await Promise.all([
      this.redis.xrange(key, cursor, cursor),
      this.redis.xrange(key, '-', '+', 'COUNT', 1),
      this.redis.xrevrange(key, '+', '-', 'COUNT', 1),
    ]);
    // The cursor's own entry is the proof that nothing between it and the next one was trimmed.
    if (at.length > 0 || (first.length === 0 && last.length === 0)) return undefined;
    return {
      id: '0-0',
      event: 'reset',
      type: EVENT_TYPES.reset,
      sessionId,
      at: isoTime(Date.now()),
      data: { after: cursor, first: first[0]?.[0], last: last[0]?.[0] },
    };
  }
}
