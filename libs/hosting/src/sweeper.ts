import type { Logger } from '@mailroom/contracts';
import type { DueEntry, DueIndex } from '@mailroom/mailbox';
import type { Queue } from 'bullmq';
import type { ActivationQueue } from './activation-queue';

const SCHEDULER = 'sweep';
/** Due entries of one slot that one tick takes at most; the rest follows in the next round of the same tick. */
const BATCH = 200;

export interface SweeperOptions {
  everyMs: number;
  /** How long an activation job may be active without a claim. */
  unclaimedMs: number;
}

/**
 * Finds what would otherwise be stuck: activations that never reached the queue or were never claimed, agents whose
 * process died, deadlines of R15 and of handoffs. One tick at a time in the whole deployment: a BullMQ job scheduler makes them.
 */
export class Sweeper {
  constructor(
    private readonly index: DueIndex,
    private readonly activations: ActivationQueue,
    private readonly options: SweeperOptions,
    private readonly logger: Logger,
  ) {}

  /** Makes the deployment's ticks; every process does so at start, which changes nothing when it was done before. */
  async schedule(queue: Queue): Promise<void> {
    await queue.upsertJobScheduler(SCHEDULER, { every: this.options.everyMs }, { name: SCHEDULER });
  }

  /** Fires a deadline when its time has come, without waiting for a tick; if this process ends before, a tick does. */
  at(entry: DueEntry, ms: number): void {
    // A timer may be a millisecond early, and what is not yet due is left alone.
    setTimeout(() => void this.sweep(entry), ms + 2).unref();
  }

  /** The body of the tick's processor. An entry that fails is logged and stays due. */
  async tick(): Promise<void> {
    for (;;) {
      const entries = await this.index.due(BATCH);
      const swept = await Promise.all(entries.map((entry) => this.sweep(entry)));
      if (entries.length < BATCH || !swept.includes(true)) return;
    }
  }

  private async sweep(entry: DueEntry): Promise<boolean> {
    try {
      const times = { againMs: this.options.everyMs, unclaimedMs: this.options.unclaimedMs };
      const epoch = entry.kind === 'job' ? await this.index.scheduledEpoch(entry) : undefined;
      if (epoch === undefined) {
        await this.index.sweep(entry, times);
      } else {
        const state = await this.activations.state({ sessionId: entry.sessionId, agent: entry.agent, epoch });
        await this.index.sweep(entry, times, { epoch, state });
      }
      return true;
    } catch (error) {
      this.logger.warn({ ...entry, err: error }, 'due entry not swept');
      return false;
    }
  }
}
