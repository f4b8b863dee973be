import { RESERVED_TOOL_NAMES, sampleTools, type Tool, ToolRegistry } from '@mailroom/capabilities';
import {
  type ActivationJob,
  activationJob,
  LEAD_QUEUE,
  LIMITS,
  type Logger,
  SUB_AGENT_QUEUE,
  SWEEPER_QUEUE,
} from '@mailroom/contracts';
import { OpenAiModelClient, PriceTable } from '@mailroom/llm';
import {
  Accounts,
  AgentDirectory,
  checkStore,
  connect,
  type DueEntry,
  DueIndex,
  EventFeed,
  type Mailbox,
  Notifications,
  RedisMailbox,
  SessionReader,
} from '@mailroom/mailbox';
import { InputFilters } from '@mailroom/runtime';
import { type Job, Queue, type Worker, type WorkerOptions } from 'bullmq';
import { ActivationQueue } from './activation-queue';
import { AgentHost } from './agent-host';
import { effectTools } from './effect-tools';
import { Probe } from './probe';
import { queueOptions, queuePrefix, workerOptions, workerSizes } from './queue-options';
import { traceSends } from './request-spans';
import type { NodeSettings } from './settings';
import { Sweeper } from './sweeper';
import { startTelemetry, type Telemetry } from './telemetry';
import {
  HOST_ACTIONS,
  MAILBOX_ACTIONS,
  MODEL_ACTIONS,
  QUEUE_ACTIONS,
  SWEEP_ACTIONS,
  toolActions,
} from './watched-actions';

/** How long agents may take to leave on shutdown before they are left to the sweeper. */
const HAND_OVER_MS = 8_000;

/** A BullMQ Worker that the app creates: for which queue, with which options, and what it does with a job. */
export interface Consumer {
  queue: string;
  options: Omit<WorkerOptions, 'connection'>;
  process(job: Job): Promise<void>;
}

/** What requests of people use: it fails at once while Redis is away. */
export interface RequestDoor {
  mailbox: Mailbox;
  sessions: SessionReader;
  accounts: Accounts;
  events: EventFeed;
  agents: AgentDirectory;
}

/**
 * One process of a deployment, without its framework: connections, mailbox, queues, host and sweeper, made of one
 * settings object. The app creates the BullMQ Workers of `consumers` and tells of them with `adopt`.
 */
export class HostNode {
  readonly requests: RequestDoor;
  /** Waits for Redis to come back instead of failing: for streams that last. */
  readonly liveEvents: EventFeed;
  readonly notifications: Notifications;
  readonly host: AgentHost;
  readonly queues: readonly Queue[];
  readonly consumers: readonly Consumer[];
  /** Names of the tools that agents of this process may use. */
  readonly toolNames: readonly string[];
  /** Names that no tool of an agent may have. */
  readonly reservedToolNames: readonly string[] = RESERVED_TOOL_NAMES;
  /** The input filters that a handoff policy may use. */
  readonly filters = new InputFilters();
  /** Where tests of faults look in. */
  readonly probe: Probe;
  readonly logger: Logger;
  /** For the app's BullMQ Workers, with the prefix of their keys. */
  readonly bullmq: { connection: ReturnType<typeof connect>; prefix: string };
  /** The connection for what people ask. */
  private readonly people: ReturnType<typeof connect>;
  private readonly connections: readonly ReturnType<typeof connect>[];
  private readonly sweeper: Sweeper;
  private readonly ticks: Queue;
  private readonly workers = new Set<Worker>();
  private readonly telemetry: Telemetry | undefined;
  private isStopping = false;

  /**
   * Checks the store, connects, starts the heartbeat and the deployment's ticks.
   * Throws `store_unavailable`, `store_version` or `misconfigured`.
   */
  static async start(
    settings: NodeSettings,
    seat: typeof LEAD_QUEUE | typeof SUB_AGENT_QUEUE,
    logger: Logger,
  ): Promise<HostNode> {
    // Before the first queue is made: BullMQ connects at once, and tries for ever.
    await checkStore(settings.redisUrl, settings.redisPrefix);
    const telemetry = settings.telemetry && (await startTelemetry(settings.telemetry, settings.host, logger));
    const node = new HostNode(settings, seat, { logger, telemetry });
    await Promise.all(node.connections.filter(({ status }) => status === 'wait').map((redis) => redis.connect()));
    await node.sweeper.schedule(node.ticks);
    node.host.start();
    return node;
  }

  private constructor(
    settings: NodeSettings,
    seat: typeof LEAD_QUEUE | typeof SUB_AGENT_QUEUE,
    { logger, telemetry }: { logger: Logger; telemetry: Telemetry | undefined },
  ) {
    this.logger = logger;
    this.telemetry = telemetry;
    const { host, redisUrl: url, redisPrefix: prefix } = settings;
    const open = (use: string, mood: 'patient' | 'prompt') => connect({ url, name: `${host}-${use}`, mood });
    const [loops, subscriber, jobs, people] = [
      open('loops', 'patient'),
      open('subscriber', 'patient'),
      open('jobs', 'patient'),
      open('requests', 'prompt'),
    ];
    this.probe = new Probe(settings.probe, host);
    this.people = people;
    this.connections = [loops, subscriber, jobs, people];
    this.reportOutages(jobs);
    this.bullmq = { connection: jobs, prefix: queuePrefix(prefix) };

    const queue = (name: string) => {
      const created = new Queue(name, { ...queueOptions(prefix), connection: jobs });
      created.on('error', (error) => this.reportTrouble(name, error));
      return created;
    };
    const [leads, subAgents] = [queue(LEAD_QUEUE), queue(SUB_AGENT_QUEUE)];
    this.ticks = queue(SWEEPER_QUEUE);
    this.queues = [leads, subAgents, this.ticks];
    const watched = (jobs: Queue) => this.probe.watch(jobs, QUEUE_ACTIONS);
    const activations = new ActivationQueue(
      { [LEAD_QUEUE]: watched(leads), [SUB_AGENT_QUEUE]: watched(subAgents) },
      logger,
    );
    const activate = (job: ActivationJob) => activations.enqueue(job);
    const alarm = (entry: DueEntry, ms: number) => this.sweeper.at(entry, ms);

    this.notifications = new Notifications(subscriber, prefix);
    this.liveEvents = new EventFeed(loops, this.notifications, prefix);
    this.requests = {
      mailbox: traceSends(
        this.probe.watch(new RedisMailbox(people, { prefix, activate, alarm }), MAILBOX_ACTIONS),
        telemetry?.tracer,
      ),
      sessions: new SessionReader(people, prefix),
      accounts: new Accounts(people, prefix),
      events: new EventFeed(people, this.notifications, prefix),
      agents: new AgentDirectory(people, prefix),
    };
    const mailbox = this.probe.watch(new RedisMailbox(loops, { prefix, activate, alarm }), MAILBOX_ACTIONS);
    const tools = new ToolRegistry(toolsOf(settings).map((tool) => this.probe.watch(tool, toolActions(tool.name))));
    this.toolNames = tools.names();
    const { idleMs, modelSilenceMs, modelCallMs, leaseMs, model, contextWindow, capacity, depthCap } = settings;
    const deps = {
      mailbox,
      notifications: this.notifications,
      agents: new AgentDirectory(loops, prefix),
      model: this.probe.watch(new OpenAiModelClient(settings.openAi), MODEL_ACTIONS),
      prices: new PriceTable(settings.prices, settings.openAi.baseUrl),
      tools,
      filters: this.filters,
      settings: {
        model,
        ...(contextWindow !== undefined && { contextWindow }),
        idleMs,
        modelSilenceMs,
        modelCallMs,
        leaseMs,
        depthCap,
        toolMs: LIMITS.toolMs,
        transcriptMs: LIMITS.transcriptMs,
      },
      host,
      logger,
      ...(telemetry && { tracer: telemetry.tracer }),
    };
    this.host = new AgentHost(mailbox, deps, { capacity, leaseMs }, logger);
    const times = { everyMs: settings.sweepMs, unclaimedMs: leaseMs };
    const index = this.probe.watch(new DueIndex(loops, { prefix, activate, alarm }), SWEEP_ACTIONS);
    this.sweeper = new Sweeper(index, activations, times, logger);
    const agents = this.probe.watch(this.host, HOST_ACTIONS);
    this.consumers = [
      ...workerSizes(capacity).map((size) => ({
        queue: seat,
        options: workerOptions(prefix, size, leaseMs),
        process: (job: Job) => agents.process(activationJob.parse(job.data)),
      })),
      { queue: SWEEPER_QUEUE, options: workerOptions(prefix, 1, leaseMs), process: () => this.sweeper.tick() },
    ];
  }

  /** Notes a BullMQ Worker that consumes for this process. */
  adopt(worker: Worker): void {
    this.workers.add(worker);
  }

  /** Makes spans of requests; absent where no traces are exported. */
  get tracer(): Telemetry['tracer'] | undefined {
    return this.telemetry?.tracer;
  }

  /** False while Redis is away, for telling that apart from other failures. */
  get isConnected(): boolean {
    return this.connections.every(({ status }) => status === 'ready');
  }

  /** Logs an error of a consumer: BullMQ repeats an outage for each connection and attempt, the node tells it once. */
  reportTrouble(queue: string, error: Error): void {
    const isOutage = 'syscall' in error || !this.isConnected || this.isStopping;
    this.logger[isOutage ? 'debug' : 'warn']({ queue, reason: error.message }, 'a consumer has trouble');
  }

  /** Why this process cannot do its work now; undefined when it can. */
  async fault(): Promise<string | undefined> {
    if (this.isStopping) return 'the process is stopping';
    if (!this.isConnected) return 'Redis is away';
    if ([...this.workers].some((worker) => !worker.isRunning())) return 'a consumer does not run';
    return this.people.ping().then(
      () => undefined,
      () => 'Redis does not answer',
    );
  }

  /** Takes no more jobs and hands the agents over. After 8 s it leaves those that stay to the sweeper. */
  async handOver(): Promise<void> {
    this.isStopping = true;
    // A worker that only paused would still take the next job, out of its waiting fetch. Closing waits for the agents that
    // leave now; whoever closes it later waits for this.
    for (const worker of this.workers) worker.close().catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.logger.warn({ ...this.host.load }, 'agents did not leave in time');
        resolve();
      }, HAND_OVER_MS);
    });
    await Promise.race([this.host.stop(), late]);
    clearTimeout(timer);
  }

  /** Closes queues and connections, and sends the last spans; the app's Workers have to be closed before. */
  async close(): Promise<void> {
    await Promise.all([...this.queues.map((queue) => queue.close()), this.telemetry?.stop()]);
    for (const redis of this.connections) redis.disconnect();
  }

  /** Once per outage; what fails meanwhile is told by those who wait for it. */
  private reportOutages(redis: ReturnType<typeof connect>): void {
    let isAway = false;
    redis.on('close', () => {
      if (!isAway && !this.isStopping) this.logger.warn({}, 'Redis is away');
      isAway = true;
    });
    redis.on('ready', () => {
      if (isAway) this.logger.info({}, 'Redis is back');
      isAway = false;
    });
  }
}

function toolsOf({ documentsDir, effectLog }: NodeSettings): Tool[] {
  return [...sampleTools(documentsDir ? { documentsDir } : {}), ...(effectLog ? effectTools(effectLog) : [])];
}
