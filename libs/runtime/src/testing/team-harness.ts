import { randomBytes } from 'node:crypto';
import { createCurrentTime, type Tool, ToolRegistry } from '@mailroom/capabilities';
import {
  type ActivationJob,
  agentDefinition,
  LEAD,
  type Logger,
  type Run,
  type SessionEvent,
} from '@mailroom/contracts';
import { OpenAiModelClient, type OwnPrice, PriceTable } from '@mailroom/llm';
import {
  Accounts,
  AgentDirectory,
  connect,
  type DueEntry,
  DueIndex,
  EventFeed,
  type Mailbox,
  Notifications,
  RedisMailbox,
  SessionReader,
  type SessionSettings,
  type Sleeper,
} from '@mailroom/mailbox';
import type { z } from 'zod';
import { Activation } from '../activation';
import { type InputFilter, InputFilters } from '../handoff/input-filters';
import { IdleAgents } from '../idle-agents';
import type { RunDeps, RunSettings } from '../run-deps';
import { type ModelRequestBody, ModelServer, type ScriptedAnswer } from './model-server';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export interface HarnessOptions {
  redis: { url: string; prefix: string };
  answer: (request: ModelRequestBody, index: number) => ScriptedAnswer;
  /** The lead's team; each member is an agent of that id. */
  team?: string[];
  agents?: z.input<typeof agentDefinition>[];
  tools?: Tool[];
  filters?: Record<string, InputFilter>;
  prices?: Record<string, OwnPrice>;
  settings?: Partial<RunSettings>;
  session?: Partial<SessionSettings>;
  /** Runs at a named point of the protocol: just before or after a call of an agent's activation on its mailbox. */
  at?: (point: string, harness: TeamHarness, agent: string) => Promise<void> | void;
}

/** The loop on real Redis and a real model server in one process; activations start as soon as they are scheduled. */
export class TeamHarness {
  readonly sessionId = `ses_${randomBytes(8).toString('hex')}`;
  readonly activations = new Set<Activation>();
  /** While true, activations are only noted. */
  holdActivations = false;
  readonly held: ActivationJob[] = [];
  /** Takes the place of the harness as host. */
  process: ((job: ActivationJob) => Promise<void>) | undefined;
  readonly mailbox: RedisMailbox;
  readonly reader: SessionReader;
  readonly feed: EventFeed;
  readonly accounts: Accounts;
  readonly due: DueIndex;
  readonly agents: AgentDirectory;
  private readonly runs = new Set<Promise<void>>();
  private readonly alarms = new Set<NodeJS.Timeout>();
  private host = 1;
  private readonly sleepers = new Set<Sleeper>();
  private isDeaf = false;
  private readonly redis;
  private readonly subscriber;
  private readonly notifications: Notifications;

  private constructor(
    private readonly options: HarnessOptions,
    readonly model: ModelServer,
  ) {
    const { url, prefix } = options.redis;
    this.redis = connect({ url, name: 'test', mood: 'patient' });
    this.subscriber = connect({ url, name: 'test-subscriber', mood: 'patient' });
    const activate = (job: ActivationJob) => this.activate(job);
    const alarm = (entry: DueEntry, ms: number) => this.alarm(entry, ms);
    this.mailbox = new RedisMailbox(this.redis, { prefix, activate, alarm });
    this.due = new DueIndex(this.redis, { prefix, activate, alarm });
    this.reader = new SessionReader(this.redis, prefix);
    this.notifications = new Notifications(this.subscriber, prefix);
    this.accounts = new Accounts(this.redis, prefix);
    this.feed = new EventFeed(this.redis, this.notifications, prefix);
    this.agents = new AgentDirectory(this.redis, prefix);
  }

  static async start(options: HarnessOptions): Promise<TeamHarness> {
    const harness = new TeamHarness(options, await ModelServer.start(options.answer));
    const team = options.team ?? ['alice', 'bob'];
    const given = new Map((options.agents ?? []).map((agent) => [agent.id, agent]));
    const ids = ['boss', ...team, ...given.keys()];
    const definitions = [...new Set(ids)].map((id) =>
      agentDefinition.parse({
        id,
        description: `${id} of the test`,
        tools: ['current_time'],
        ...(id === 'boss' && { subAgents: team }),
        ...given.get(id),
      }),
    );
    await harness.agents.publishFiles(definitions);
    await harness.mailbox.openSession({
      id: harness.sessionId,
      space: 'default',
      leadAgentId: 'boss',
      roster: definitions.find(({ id }) => id === 'boss')?.subAgents ?? [],
      metadata: {},
      fingerprint: 'test',
      settings: { windowMs: 0, ...options.session },
    });
    return harness;
  }

  /** Starts the activation here, as a worker does when its job comes. */
  activate(job: ActivationJob): void {
    if (this.holdActivations) {
      this.held.push(job);
      return;
    }
    const run = (this.process?.(job) ?? this.runAlone(job)).finally(() => this.runs.delete(run));
    this.runs.add(run);
  }

  /** Fires a deadline at its time, as the process that set it does. */
  private alarm(entry: DueEntry, ms: number): void {
    const timer = setTimeout(() => {
      this.alarms.delete(timer);
      void this.due.sweep(entry, { againMs: 1_000, unclaimedMs: 15_000 }).catch(() => undefined);
    }, ms + 2);
    this.alarms.add(timer);
  }

  /** What an activation needs; each call names another host. */
  runDeps(): RunDeps {
    return {
      mailbox: this.options.at ? this.watched(this.options.at) : this.mailbox,
      notifications: {
        listen: async (sleeper) => {
          if (this.isDeaf) return;
          this.sleepers.add(sleeper);
          await this.notifications.listen(sleeper);
        },
        ignore: (sleeper) => this.notifications.ignore(sleeper),
      },
      agents: this.agents,
      model: new OpenAiModelClient({ baseUrl: this.model.url, apiKey: 'test', attempts: 1 }),
      prices: new PriceTable(this.options.prices),
      tools: new ToolRegistry([createCurrentTime() as Tool, ...(this.options.tools ?? [])]),
      settings: {
        model: 'scripted',
        idleMs: 200,
        transcriptMs: 0,
        modelSilenceMs: 5_000,
        modelCallMs: 5_000,
        toolMs: 2_000,
        leaseMs: 60_000,
        depthCap: 1,
        ...this.options.settings,
      },
      filters: new InputFilters(this.options.filters),
      host: `host-${this.host++}`,
      logger: SILENT,
    };
  }

  private async runAlone(job: ActivationJob): Promise<void> {
    const deps = this.runDeps();
    const left = (activation: Activation) => this.activations.delete(activation);
    const activation = new Activation(deps, job, new IdleAgents(deps.settings), left);
    this.activations.add(activation);
    await activation.run();
  }

  /** The mailbox, with the hook around the calls that an activation makes on its way to idle. */
  private watched(at: NonNullable<HarnessOptions['at']>): Mailbox {
    const around = async <T>(name: string, agent: string, call: () => Promise<T>): Promise<T> => {
      await at(`before ${name}`, this, agent);
      const answer = await call();
      await at(`after ${name}`, this, agent);
      return answer;
    };
    const port: Pick<Mailbox, 'claim' | 'readInbox' | 'commit' | 'exit'> = {
      claim: (...args) => around('claim', args[0].agent, () => this.mailbox.claim(...args)),
      readInbox: (...args) => around('readInbox', args[0].agent, () => this.mailbox.readInbox(...args)),
      commit: (...args) => around('commit', args[0].agent, () => this.mailbox.commit(...args)),
      exit: (...args) => around('exit', args[0].agent, () => this.mailbox.exit(...args)),
    };
    return Object.assign(Object.create(this.mailbox) as Mailbox, port);
  }

  async ask(content: string, onBusy: 'steer' | 'reject' = 'steer'): Promise<string> {
    const { runId } = await this.mailbox.send(this.sessionId, {
      from: 'user',
      to: LEAD,
      type: 'task',
      content,
      onBusy,
    });
    return runId;
  }

  /** All events so far and to come until one matches. */
  async until(matches: (event: SessionEvent) => boolean): Promise<SessionEvent[]> {
    const events: SessionEvent[] = [];
    const stop = new AbortController();
    for await (const event of this.feed.follow(this.sessionId, '', stop.signal)) {
      events.push(event);
      if (matches(event)) stop.abort();
    }
    return events;
  }

  /** The run of a question, once it has settled. */
  async settled(runId: string): Promise<Run> {
    await this.until((event) => event.event === 'done' && event.runId === runId);
    return (await this.reader.run('default', this.sessionId, runId)) as Run;
  }

  /** From now on no wake-up reaches an activation. */
  deafen(): void {
    this.isDeaf = true;
    for (const sleeper of this.sleepers) this.notifications.ignore(sleeper);
  }

  /** Resolves when no agent is loaded any more. */
  async allLeft(): Promise<void> {
    while (this.runs.size > 0) await Promise.all(this.runs);
  }

  async close(): Promise<void> {
    await this.mailbox.closeSession(this.sessionId);
    for (const timer of this.alarms) clearTimeout(timer);
    for (const activation of this.activations) activation.call();
    await this.allLeft();
    this.redis.disconnect();
    this.subscriber.disconnect();
    await this.model.close();
  }
}
