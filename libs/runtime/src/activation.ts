import { randomBytes } from 'node:crypto';
import { type ActivationJob, AppError, LIMITS, toAppError } from '@mailroom/contracts';
import type { HeldLease, Inbox, Lease, Wake } from '@mailroom/mailbox';
import { Attention } from './attention';
import { LedgerWriter } from './ledger-writer';
import { Memory } from './memory';
import { nextStep } from './next-step';
import type { RunDeps } from './run-deps';
import { type Seat, takeSeat } from './team';
import { think } from './think';
import { useTools } from './use-tools';

/** A step that is under way when its host stops gets this long to end by itself. */
const GRACE_MS = 3_000;

const LIMIT_REACHED =
  'You have reached your step limit. Write everything that you found so far as your result. You have no tools now.';
const ALLOWANCE_SPENT = 'No further steps are made in this run without an open task.';

/** Why a step was aborted. */
type Interrupt = 'cancelled' | 'stopping' | 'lost';

/**
 * One load of an agent, from claim to exit: the one loop of leads and sub-agents. A step is drain → model call → tool
 * calls → commit (DESIGN §5); what comes next is always decided from the journal.
 */
export class Activation {
  /** Since when the agent idles, in ms of a monotonic clock; undefined while it works. */
  idleSince: number | undefined;
  /** The lease, and the cancel number that the last look into the mailbox saw. */
  lease: HeldLease | undefined;
  private readonly attention = new Attention();
  private readonly memory = new Memory();
  private readonly emitted = { count: 0 };
  private stopReason: 'released' | 'evicted' | undefined;
  private isLost = false;
  private abort: ((why: Interrupt) => void) | undefined;

  constructor(
    private readonly deps: RunDeps,
    private readonly job: ActivationJob,
    /** Called whenever the agent begins to idle. */
    private readonly onIdle: () => void = () => undefined,
  ) {}

  get isLeaving(): boolean {
    return this.stopReason !== undefined || this.isLost;
  }

  /** Resolves when the agent is off this process, however that came. Never throws. */
  async run(): Promise<void> {
    let unsubscribe: (() => void) | undefined;
    try {
      // Before the claim: a wake-up between claim and subscription would be missed.
      unsubscribe = await this.deps.notifications.onWake(this.job.sessionId, this.job.agent, (wake) =>
        this.onWake(wake),
      );
      const token = randomBytes(8).toString('hex');
      const claim = await this.deps.mailbox.claim(this.job, token, this.deps.host, this.deps.settings.leaseMs);
      if (!claim) return;
      this.lease = { ...claim.lease, agentCancel: 0 };
      await this.live(claim.lease, await takeSeat(this.deps.agents, claim));
    } catch (error) {
      await this.fail(error);
    } finally {
      unsubscribe?.();
    }
  }

  /** Leaves as soon as nothing is half done; the next host goes on. */
  stop(reason: 'released' | 'evicted'): void {
    this.stopReason ??= reason;
    this.attention.call();
    if (this.abort) setTimeout(() => this.abort?.('stopping'), GRACE_MS).unref();
  }

  /** The lease is lost: stops without writing. */
  abandon(): void {
    this.isLost = true;
    this.abort?.('lost');
    this.attention.call();
  }

  /** Looks into the mailbox, in case a wake-up was lost. */
  look(): void {
    this.attention.call();
  }

  /** What the agent does was cancelled: aborts it and looks. */
  cancel(): void {
    this.abort?.('cancelled');
    this.attention.call();
  }

  private onWake(wake: Wake): void {
    if (wake === 'cancel') this.cancel();
    else this.look();
  }

  private async live(lease: Lease, seat: Seat): Promise<void> {
    while (!this.isLost) {
      if (this.stopReason) return this.deps.mailbox.release(lease, this.stopReason);
      this.attention.reset();
      const inbox = await this.deps.mailbox.readInbox(lease, this.memory.length);
      this.lease = inbox.fence;
      this.memory.take(inbox);
      const hasLeft = await this.advance(seat, inbox);
      if (hasLeft) return;
    }
  }

  /** Makes one step; true when the agent has left. */
  private async advance(seat: Seat, inbox: Inbox): Promise<boolean> {
    const maxSteps = seat.definition?.maxSteps ?? (seat.role === 'lead' ? LIMITS.leadMaxSteps : LIMITS.maxSteps);
    const next = nextStep(inbox, this.memory, seat.role, maxSteps);
    const writer = new LedgerWriter(this.deps.mailbox, inbox.fence, this.emitted);
    const say = { events: [], sends: [] };
    switch (next.kind) {
      case 'collect':
        // More mail only lengthens the block: the window itself, or the end of the last task, closes it.
        await this.attention.within(next.ms);
        return false;
      case 'idle':
        return this.idle(inbox.fence);
      case 'leave':
        return this.deps.mailbox.exit(inbox.fence, next.reason);
      case 'announce-limit':
        await writer.commit({ ...say, entries: [{ kind: 'engine', code: 'limit', text: LIMIT_REACHED }], park: 'no' });
        return false;
      case 'conclude':
        await writer.commit({ ...say, entries: [], park: 'no', conclude: 'max_steps' });
        return false;
      case 'retire': {
        const receipt = await writer.commit({
          ...say,
          entries: [{ kind: 'engine', code: 'allowance', text: ALLOWANCE_SPENT }],
          park: 'yes',
        });
        return receipt.left !== undefined;
      }
      case 'think':
      case 'use-tools': {
        const after = await this.work(seat, inbox, next);
        // Nothing to look for: whatever came since the last look has called for attention.
        return after === 'idle' ? this.idle(inbox.fence) : after === 'left';
      }
    }
  }

  /** A model call and the tools that it asks for; or the tools of a step whose host is gone. */
  private async work(
    seat: Seat,
    inbox: Inbox,
    next: { kind: 'use-tools' } | { kind: 'think'; last: boolean },
  ): Promise<'left' | 'idle' | 'look'> {
    const writer = new LedgerWriter(this.deps.mailbox, inbox.fence, this.emitted);
    const controller = new AbortController();
    this.abort = (why) => controller.abort(new Interruption(why));
    const { signal } = controller;
    const { sessionId, agent } = this.job;
    try {
      if (next.kind === 'use-tools') {
        const calls = this.memory.callsOf(inbox.openCalls);
        await useTools(this.deps, { sessionId, agent, step: inbox.step, calls, isFresh: false, writer, signal });
        return 'look';
      }
      const thought = { seat, sessionId, inbox, memory: this.memory, writer, signal, last: next.last };
      const { receipt, open } = await think(this.deps, thought);
      if (receipt.left !== undefined) return 'left';
      if (!receipt.work) return 'idle';
      if (open.length > 0)
        await useTools(this.deps, {
          sessionId,
          agent,
          step: inbox.step + 1,
          calls: open,
          isFresh: true,
          writer,
          signal,
        });
    } catch (error) {
      // The state has moved on under this step; the next drain tells how.
      if (!(error instanceof Interruption) && toAppError(error).retry !== 'now') throw error;
      controller.abort(error);
      this.memory.forget();
    } finally {
      this.abort = undefined;
    }
    return 'look';
  }

  private async idle(lease: Lease): Promise<boolean> {
    this.idleSince = performance.now();
    this.onIdle();
    try {
      if (await this.attention.within(this.deps.settings.idleMs)) return false;
    } finally {
      this.idleSince = undefined;
    }
    return this.deps.mailbox.exit(lease, 'idle_timeout');
  }

  private async fail(error: unknown): Promise<void> {
    const known = toAppError(error);
    const { sessionId, agent, epoch } = this.job;
    if (known.code === 'lease_lost' || known.code === 'session_closed') return;
    this.deps.logger.error({ sessionId, agent, epoch, code: known.code, err: error }, 'activation failed');
    if (!this.lease) return;
    await this.deps.mailbox.release(this.lease, 'error').catch((again: unknown) => {
      this.deps.logger.warn(
        { sessionId, agent, epoch, err: again },
        'activation not released; the sweeper will find it',
      );
    });
  }
}

class Interruption extends AppError {
  constructor(readonly why: Interrupt) {
    super('cancelled', `the step was interrupted: ${why}`);
  }
}
