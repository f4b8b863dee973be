import type { Redis } from 'ioredis';
import type { DueEntry, DueKind } from './due-entry';
import { ALL_SLOTS, MailboxKeys } from './keys';
import type { RedisMailboxOptions } from './mailbox-options';
import { MailboxScripts } from './scripts';

/** What the queue knows of an activation job. */
export type JobState = 'waiting' | 'active' | 'missing';

export interface SweepTimes {
  /** When a job that is on its way is looked at again. */
  againMs: number;
  /** How long a job may be active without a claim. */
  unclaimedMs: number;
}

/** The sweeper's view of Redis: what is due, and the repair of one entry. */
export class DueIndex {
  private readonly keys: MailboxKeys;
  private readonly scripts: MailboxScripts;

  constructor(
    private readonly redis: Redis,
    private readonly options: RedisMailboxOptions,
  ) {
    this.keys = new MailboxKeys(options.prefix);
    this.scripts = new MailboxScripts(redis);
  }

  /** Entries whose time has come, at most `count` per slot, by the clock of Redis. */
  async due(count: number): Promise<DueEntry[]> {
    const members = await Promise.all(ALL_SLOTS.map((slot) => this.scripts.run('due', [this.keys.due(slot)], [count])));
    return (members as string[][]).flat().map((member) => {
      const [sessionId = '', agent = '', kind] = member.split('|');
      return { sessionId, agent, kind: kind as DueKind };
    });
  }

  /** The epoch of a scheduled agent; undefined when it is in another state. */
  async scheduledEpoch({ sessionId, agent }: DueEntry): Promise<number | undefined> {
    const [state, epoch] = await this.redis.hmget(this.keys.of('agent', sessionId, agent), 'st', 'epoch');
    return state === 'scheduled' ? Number(epoch) : undefined;
  }

  /** Repairs or fires one entry. For a job: what the queue says of the activation with that epoch. */
  async sweep(entry: DueEntry, times: SweepTimes, job?: { epoch: number; state: JobState }): Promise<void> {
    const { sessionId, agent, kind } = entry;
    const keys = [this.keys.of('session', sessionId), this.keys.due(this.keys.slot(sessionId))];
    const args = [agent, kind, job?.epoch ?? '', job?.state ?? '', times.againMs, times.unclaimedMs];
    const reply = JSON.parse((await this.scripts.run('sweep', keys, args)) as string) as {
      activate?: [string, number][];
      alarms?: [string, DueKind, number][];
    };
    for (const [name, epoch] of reply.activate ?? []) this.options.activate({ sessionId, agent: name, epoch });
    for (const [name, due, ms] of reply.alarms ?? []) this.options.alarm?.({ sessionId, agent: name, kind: due }, ms);
  }
}
