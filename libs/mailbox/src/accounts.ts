import { LIMITS, type UsageRow } from '@mailroom/contracts';
import type { Redis } from 'ioredis';
import { MailboxKeys } from './keys';
import { isoTime } from './records';

/** Sessions that are read at the same time. */
const BATCH = 50;

/**
 * The accounts of sessions: one row per model call, in the order in which they were committed. They outlive their
 * sessions by `LIMITS.usageKeepMs`; the list of a space says whose they are.
 */
export class Accounts {
  private readonly keys: MailboxKeys;

  constructor(
    private readonly redis: Redis,
    prefix: string,
  ) {
    this.keys = new MailboxKeys(prefix);
  }

  /** All rows of a session. Undefined: the space has no such session. */
  async ofSession(space: string, sessionId: string): Promise<UsageRow[] | undefined> {
    if ((await this.redis.zscore(this.keys.accounts(space), sessionId)) === null) return undefined;
    return this.rows(sessionId, 0, -1);
  }

  /** The rows of a space with `from` ≤ `at` < `to`, in ms, a few sessions at a time. Reads those that were opened before `to`. */
  async *ofSpace(space: string, from: number, to: number): AsyncGenerator<UsageRow[]> {
    const list = this.keys.accounts(space);
    const ids = await this.redis.zrangebyscore(list, '-inf', `(${to}`);
    const [since, until] = [isoTime(from), isoTime(to)];
    for (let i = 0; i < ids.length; i += BATCH) {
      const accounts = await Promise.all(ids.slice(i, i + BATCH).map((id) => this.since(id, since)));
      yield accounts.flat().filter(({ at }) => at < until);
    }
    await this.forgetEnded(list);
  }

  /** Rows come in the order of their time, so the last one tells whether any is wanted. */
  private async since(sessionId: string, since: string): Promise<UsageRow[]> {
    const [last] = await this.rows(sessionId, -1, -1);
    if (!last || last.at < since) return [];
    return (await this.rows(sessionId, 0, -1)).filter(({ at }) => at >= since);
  }

  private async rows(sessionId: string, first: number, last: number): Promise<UsageRow[]> {
    const stored = await this.redis.lrange(this.keys.of('usage', sessionId), first, last);
    return stored.map((text) => {
      const row = JSON.parse(text) as Omit<UsageRow, 'sessionId' | 'at'> & { at: number };
      return { sessionId, ...row, at: isoTime(row.at) };
    });
  }

  /** Drops from the list what was opened long ago and has neither a session nor an account any more. */
  private async forgetEnded(list: string): Promise<void> {
    const old = await this.redis.zrangebyscore(list, '-inf', Date.now() - LIMITS.usageKeepMs);
    const gone: string[] = [];
    for (const id of old) {
      const left = await this.redis.exists(this.keys.of('session', id), this.keys.of('usage', id));
      if (left === 0) gone.push(id);
    }
    if (gone.length > 0) await this.redis.zrem(list, ...gone);
  }
}
