import { randomUUID } from 'node:crypto';
import { type ActivationJob, AppError, type EngineEntry, LIMITS, type ToolCall, toAppError } from '@mailroom/contracts';
import type { HeldLease, Inbox, Lease, Sleeper, StepPart, Wake } from '@mailroom/mailbox';
import { Attention } from './attention';
import { deniedPart } from './handoff/denied-part';
import { failedReport } from './handoff/report';
import { compact } from './history/compact';
import type { IdleAgent, IdleAgents } from './idle-agents';
import { LedgerWriter } from './ledger-writer';
import { Memory } from './memory';
import { fitting, type NextStep, nextStep } from './next-step';
import type { RunDeps } from './run-deps';
import { Shared } from './shared';
import { WorkSpans } from './spans/work-spans';
import { overgrown } from './step-request';
import { type Seat, takeSeat } from './team';
import { think } from './think';
import { type ToolUse, useTools } from './use-tools';

/** A step that is under way when its host stops gets this long to end by itself. */
const GRACE_MS = 3_000;

const LIMIT_REACHED: EngineEntry = {
  kind: 'engine',
  code: 'limit',
  text: 'You have reached your step limit. Write everything that you found so far as your result. You have no tools now.',
};
const DENIED = 'the handoff policy denied a call further down';
const WORK_ENDED: EngineEntry = {
  kind: 'engine',
  code: 'failure',
  text: 'A call was denied by the handoff policy, and the work above was ended.',
};
const ALLOWANCE_SPENT = 'No further steps are made in this run without an open task.';

/** What comes after a step: gone · idle until called · a look into the mailbox · the look that was already made. */
type AfterStep = 'left' | 'idle' | 'look' | Inbox;

type WorkStep = Extract<NextStep, { kind: 'use-tools' | 'think' | 'compact' }>;

/** Of all agents of this process. */
const SEATS = new Shared<Seat>();

/** Why a step was aborted. */
type Interrupt = 'cancelled' | 'stopping' | 'lost';

/**
 * One load of an agent, from claim to exit: the one loop of leads and sub-agents. A step is drain → model call → tool
 * calls → commit (ARCHITECTURE.md); what comes next is always decided from the journal. So the loop ends where the agent
 * idles and begins again when it is called; between, nothing but this object is left of it.
 */
export class Activation implements IdleAgent, Sleeper {
  readonly sessionId: string;
  readonly agent: string;
  private readonly epoch: number;
  /** The lease, and the cancel number that the last look into the mailbox saw. */
  lease: HeldLease | undefined;
  /** As it was when the agent was loaded. */
  private seat: Seat | undefined;
  private readonly attention = new Attention();
  /** Undefined: forgotten, and the next look into the mailbox brings all back. */
  private remembered: Memory | undefined;
  private readonly emitted = { count: 0 };
  private stopReason: 'released' | 'evicted' | undefined;
  private isLost = false;
  /** True: the idle limit was reached, so it exits unless there is work. */
  private isExpired = false;
  /** A look that a claim or a commit made, until it is worked on. */
  private seen: Inbox | undefined;
  /** True: a cancel came since the last look, so what that look saw is not to be worked on. */
  private isStale = false;
  private abort: ((why: Interrupt) => void) | undefined;
  private readonly spans: WorkSpans | undefined;
  private end: (() => void) | undefined;

  constructor(
    private readonly deps: RunDeps,
    job: ActivationJob,
    private readonly idle: IdleAgents,
    /** Called when the agent is off this process. */
    private readonly onLeft: (activation: Activation) => void,
  ) {
    this.sessionId = job.sessionId;
    this.agent = job.agent;
    this.epoch = job.epoch;
    this.spans = deps.tracer && new WorkSpans(deps.tracer, job);
  }

  private get isLeaving(): boolean {
    return this.stopReason !== undefined || this.isLost;
  }

  /** Resolves when the agent is off this process, however that came. Never throws. */
  run(): Promise<void> {
    return new Promise((resolve) => {
      this.end = resolve;
      void this.live();
    });
  }

  /** Leaves as soon as nothing is half done; the next host goes on. */
  stop(reason: 'released' | 'evicted'): void {
    this.stopReason ??= reason;
    if (this.abort) setTimeout(() => this.abort?.('stopping'), GRACE_MS).unref();
    this.call();
  }

  /** The lease is lost: stops without writing. */
  abandon(): void {
    this.isLost = true;
    this.abort?.('lost');
    this.call();
  }

  /** Calls the agent to its mailbox, in case a wake-up was lost. */
  call(): void {
    this.attention.call();
    if (this.idle.delete(this)) void this.live();
  }

  /** What the agent does was cancelled: aborts it and looks. */
  cancel(): void {
    this.isStale = true;
    this.abort?.('cancelled');
    this.call();
  }

  onWake(wake: Wake): void {
    if (wake === 'cancel') this.cancel();
    else this.call();
  }

  forget(): void {
    this.remembered = undefined;
  }

  expire(): void {
    this.isExpired = true;
    void this.live();
  }

  /** Ends when the agent idles, or is off this process. */
  private async live(): Promise<void> {
    try {
      if (!this.seat) await this.load();
      if (this.seat && this.lease && (await this.work(this.seat, this.lease)) === 'idle') return;
    } catch (error) {
      await this.fail(error);
    }
    this.spans?.rest();
    this.deps.notifications.ignore(this);
    this.onLeft(this);
    this.end?.();
  }

  /** Takes lease and seat; none when the job is stale. */
  private async load(): Promise<void> {
    const { mailbox, notifications, agents, host, settings } = this.deps;
    const { sessionId, agent, epoch } = this;
    // All this leaves together.
    const [listening, definitions] = [notifications.listen(this), agents.current()];
    for (const begun of [listening, definitions]) begun.catch(() => undefined);
    // 62 random bits: the end of a UUID, since those are made many at a time.
    const terms = { token: randomUUID().slice(19), host, leaseMs: settings.leaseMs, look: true };
    const claim = await mailbox.claim({ sessionId, agent, epoch }, terms);
    if (!claim) return;
    this.lease = { ...claim.lease, agentCancel: 0 };
    this.seen = claim.inbox;
    this.seat = SEATS.one(await takeSeat(await definitions, agent, claim, settings.depthCap));
    await listening;
    // A wake-up between claim and subscription was missed. A commit will tell of its mail; without one, a look.
    this.attention.call();
  }

  private async work(seat: Seat, lease: Lease): Promise<'idle' | 'left'> {
    const { mailbox } = this.deps;
    while (!this.isLost) {
      if (this.stopReason) {
        // A look that was not worked on may have reserved a call; after an abort there is none, and its call was begun.
        await mailbox.release(lease, this.stopReason, this.seen !== undefined);
        return 'left';
      }
      if (this.isExpired) {
        this.isExpired = false;
        if (await mailbox.exit(lease, 'idle_timeout')) return 'left';
        continue;
      }
      const after = await this.advance(seat, await this.nextInbox(lease));
      this.seen = typeof after === 'object' ? after : undefined;
      if (after === 'left') return 'left';
      // Whatever came since the last look or commit has called for attention.
      if (after === 'idle' && !this.attention.isCalled && !this.isLeaving) {
        this.spans?.rest();
        this.idle.add(this);
        return 'idle';
      }
    }
    return 'left';
  }

  private nextInbox(lease: Lease): Inbox | Promise<Inbox> {
    const { seen } = this;
    this.seen = undefined;
    return seen && !this.isStale ? seen : this.look(lease);
  }

  private async look(lease: Lease): Promise<Inbox> {
    this.attention.reset();
    this.isStale = false;
    try {
      return await this.deps.mailbox.readInbox(lease, this.memory.length, this.memory.commits);
    } catch (error) {
      // Redis came back without its latest writes: what is remembered did not happen.
      if (toAppError(error).code !== 'out_of_step') throw error;
      this.forget();
      return this.deps.mailbox.readInbox(lease, 0);
    }
  }

  /** Makes one step. */
  private async advance(seat: Seat, inbox: Inbox): Promise<AfterStep> {
    this.lease = inbox.fence;
    this.memory.take(inbox);
    const maxSteps = seat.definition?.maxSteps ?? (seat.role === 'lead' ? LIMITS.leadMaxSteps : LIMITS.maxSteps);
    const { role, reports } = seat;
    const next = fitting(nextStep(inbox, this.memory, { role, reports, maxSteps }), () =>
      overgrown(this.deps, { seat, inbox, memory: this.memory }),
    );
    switch (next.kind) {
      case 'collect':
        // More mail only lengthens the block: the window itself, or the end of the last task, closes it.
        await this.attention.within(next.ms);
        return 'look';
      case 'idle':
        return 'idle';
      case 'leave':
        return (await this.deps.mailbox.exit(inbox.fence, next.reason)) ? 'left' : 'look';
      case 'announce-limit':
        return this.note(inbox, { entries: [reports ? failedReport('its step limit is reached') : LIMIT_REACHED] });
      case 'deny':
        return this.note(inbox, {
          entries: [WORK_ENDED],
          ...deniedPart(seat, this.memory.messages.get(next.messageId)?.content ?? DENIED),
        });
      case 'conclude':
        return this.note(inbox, { conclude: 'max_steps' });
      case 'retire':
        return this.note(inbox, {
          entries: [{ kind: 'engine', code: 'allowance', text: ALLOWANCE_SPENT }],
          park: 'yes',
        });
      case 'think':
      case 'compact':
      case 'use-tools':
        return this.step(seat, inbox, next);
    }
  }

  /** A part of a step for which no model is called. */
  private async note(inbox: Inbox, part: Partial<StepPart>): Promise<AfterStep> {
    const writer = this.writerFor(inbox);
    const receipt = await writer.commit({ entries: [], events: [], sends: [], park: 'no', ...part });
    this.memory.add(writer.held, writer.commits);
    return receipt.left === undefined ? (receipt.inbox ?? 'look') : 'left';
  }

  /** A model call and the tools that it asks for; the tools of a step whose host is gone; or a summary. */
  private async step(seat: Seat, inbox: Inbox, next: WorkStep): Promise<AfterStep> {
    const writer = this.writerFor(inbox);
    const controller = new AbortController();
    this.abort = (why) => controller.abort(new Interruption(why));
    const spans = this.spans?.step({ seat, inbox, memory: this.memory, isOld: next.kind === 'use-tools' });
    try {
      const after = await this.make(seat, inbox, next, { writer, signal: controller.signal, spans });
      this.memory.add(writer.held, writer.commits);
      return after;
    } catch (error) {
      // The state has moved on under this step; the next drain tells how.
      if (!(error instanceof Interruption) && toAppError(error).retry !== 'now') throw error;
      controller.abort(error);
      this.forget();
      return 'look';
    } finally {
      this.abort = undefined;
      spans?.end();
    }
  }

  private async make(
    seat: Seat,
    inbox: Inbox,
    next: WorkStep,
    to: Pick<ToolUse, 'writer' | 'signal' | 'spans'>,
  ): Promise<AfterStep> {
    const { sessionId, agent, memory } = this;
    const { writer, signal, spans } = to;
    const use = (step: number, calls: readonly ToolCall[], isFresh: ToolUse['isFresh']) =>
      useTools(this.deps, { sessionId, agent, step, calls, isFresh, writer, signal, spans });
    if (next.kind === 'use-tools') {
      const isFresh = (callId: string) => (memory.isFallback(callId) ? 'fallback' : 'no');
      return (await use(inbox.step, memory.callsOf(inbox.openCalls), isFresh)) ?? 'look';
    }
    const last = next.kind === 'think' && next.last;
    const thought = { seat, sessionId, inbox, memory, writer, signal, last, spans };
    const { receipt, open } =
      next.kind === 'compact'
        ? { receipt: await compact(this.deps, thought, next), open: [] }
        : await think(this.deps, thought);
    if (receipt.left !== undefined) return 'left';
    if (open.length > 0) return (await use(inbox.step + 1, open, () => 'yes')) ?? 'look';
    // Nothing to look for: whatever came since the last look has called for attention.
    return receipt.work ? (receipt.inbox ?? 'look') : 'idle';
  }

  private get memory(): Memory {
    this.remembered ??= new Memory();
    return this.remembered;
  }

  private writerFor(inbox: Inbox): LedgerWriter {
    const { attention, emitted } = this;
    return new LedgerWriter(this.deps.mailbox, inbox.fence, { known: this.memory.length, emitted, attention });
  }

  private async fail(error: unknown): Promise<void> {
    const known = toAppError(error);
    const { sessionId, agent, epoch } = this;
    this.spans?.rest(known.code);
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
