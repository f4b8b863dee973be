import type { ActivationJob, Logger } from '@mailroom/contracts';
import type { Mailbox } from '@mailroom/mailbox';
import { Activation, IdleAgents, type RunDeps } from '@mailroom/runtime';

export interface AgentHostOptions {
  /** Agents at a time. */
  capacity: number;
  /** A lease that is not renewed for this long is lost; it is renewed three times in that time. */
  leaseMs: number;
}

/** How full a process is. */
export interface HostLoad {
  hosted: number;
  idle: number;
  capacity: number;
}

/**
 * Runs the agents of one process: each BullMQ job is one activation and lasts as long. Renews their leases, looks for
 * missed mail while it does so, makes room when jobs wait, and hands everything over on shutdown.
 */
export class AgentHost {
  private readonly activations = new Map<Activation, Promise<void>>();
  /** Those among them that make room, or have lost their lease. */
  private readonly leaving = new Set<object>();
  private readonly idle: IdleAgents;
  private roomWanted: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(
    private readonly mailbox: Mailbox,
    private readonly deps: RunDeps,
    private readonly options: AgentHostOptions,
    private readonly logger: Logger,
  ) {
    this.idle = new IdleAgents(deps.settings, () => this.evict());
  }

  get load(): HostLoad {
    return { hosted: this.activations.size, idle: this.idle.size, capacity: this.options.capacity };
  }

  /** Starts the heartbeat. */
  start(): void {
    const beat = () => {
      this.renewLeases()
        .catch((error: unknown) => this.logger.warn({ err: error }, 'leases not renewed'))
        .finally(() => {
          if (!this.isStopping) this.timer = setTimeout(beat, this.options.leaseMs / 3);
        });
    };
    this.timer = setTimeout(beat, this.options.leaseMs / 3);
  }

  /**
   * The body of a BullMQ processor: resolves when the activation has ended, however it ended. Never throws. Not `async`:
   * what waits here would be kept for each agent.
   */
  process(job: ActivationJob): Promise<void> {
    // Left to the sweeper: the job ends unclaimed, and another process takes the activation.
    if (this.isStopping) return Promise.resolve();
    if (this.isFull) return this.room().then(() => this.process(job));
    const activation = new Activation(this.deps, job, this.idle, this.onLeft);
    const run = activation.run();
    this.activations.set(activation, run);
    return run;
  }

  /** Idle agents leave at once, working ones after their step; resolves when all are gone. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    for (const wanted of this.roomWanted.splice(0)) wanted();
    for (const activation of this.activations.keys()) activation.stop('released');
    await Promise.all(this.activations.values());
  }

  private readonly onLeft = (activation: Activation): void => {
    this.activations.delete(activation);
    this.leaving.delete(activation);
    this.roomWanted.shift()?.();
  };

  private get isFull(): boolean {
    return this.activations.size >= this.options.capacity;
  }

  /** Resolves when an agent has left: the longest-idle one goes; when none is idle, the next that ends or idles. */
  private room(): Promise<void> {
    const left = new Promise<void>((resolve) => this.roomWanted.push(resolve));
    this.evict();
    return left;
  }

  /** Lets idle agents go, as many as there are jobs that wait for room. */
  private evict(): void {
    while (this.leaving.size < this.roomWanted.length) {
      const agent = this.idle.longest;
      if (!agent) return;
      this.leaving.add(agent);
      agent.stop('evicted');
    }
  }

  private async renewLeases(): Promise<void> {
    const held = [...this.activations.keys()].flatMap((activation) =>
      activation.lease ? [[activation, activation.lease] as const] : [],
    );
    if (held.length === 0) return;
    const states = await this.mailbox.renewLeases(
      held.map(([, lease]) => lease),
      this.options.leaseMs,
    );
    held.forEach(([activation, lease], i) => {
      const state = states[i];
      // It left while its lease was being renewed.
      if (!this.activations.has(activation)) return;
      if (state === 'lost') {
        this.logger.warn({ sessionId: lease.sessionId, agent: lease.agent, epoch: lease.epoch }, 'lease lost');
        this.leaving.add(activation);
        activation.abandon();
      } else if (state === 'cancelled') activation.cancel();
      else if (state === 'work') activation.call();
    });
  }
}
