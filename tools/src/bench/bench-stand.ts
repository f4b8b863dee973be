import { type AgentDefinition, LEAD_QUEUE, type Run, SUB_AGENT_QUEUE } from '@mailroom/contracts';
import { ActivationQueue, queueOptions } from '@mailroom/hosting';
import { connect, type Mailbox, RedisMailbox, SessionReader } from '@mailroom/mailbox';
import { Queue } from 'bullmq';
import { startRedis } from '../redis-launcher';
import { type Stack, startStack } from '../stack';
import { BenchModel } from './bench-model';
import { rest, within } from './clock';

/** The prefix of the product's keys. */
export const PREFIX = 'bench';

/** How the names of this process's connections begin. */
export const OWN_CONNECTIONS = 'own-';

const SPACE = 'default';
const DAY_MS = 86_400_000;

/** The product as it is deployed, and this process beside it as its model and as a sender. */
export interface BenchStand {
  /** Redis with AOF, one gateway and one worker from their builds. */
  readonly stack: Stack;
  /** A connection for whatever a measurement asks Redis. */
  readonly redis: ReturnType<typeof connect>;
  readonly model: BenchModel;
  /** The product's mailbox in this process, made as a gateway makes it: a sender in a process of its own. */
  readonly mailbox: Mailbox;
  /** Defines an agent over REST, again if need be. */
  define(agent: Pick<AgentDefinition, 'id' | 'model'> & Partial<AgentDefinition>): Promise<void>;
  /** Opens a session over REST. */
  open(leadAgentId: string): Promise<string>;
  /** Opens a session with an input over REST and waits for the run, at most a minute. */
  ask(leadAgentId: string, input: string): Promise<Run>;
  /** Resolves when the agent has no work any more. */
  quiet(sessionId: string, agent: string): Promise<void>;
  stop(): Promise<void>;
}

export interface StandOptions {
  /** How many workers to start with. Default 1. */
  workers?: number;
}

/** Starts everything. The Redis is always its own, since whatever else uses it would be measured as well. */
export async function startBenchStand({ workers = 1 }: StandOptions = {}): Promise<BenchStand> {
  const server = await startRedis({ url: undefined, appendonly: true });
  const model = await BenchModel.start();
  const stack = await startStack({
    redis: server,
    modelUrl: model.url,
    workers,
    env: {
      REDIS_PREFIX: PREFIX,
      OPENAI_API_KEY: 'none',
      IDLE_TIMEOUT_MS: String(DAY_MS),
      WAIT_BUDGET_MS: String(DAY_MS),
      // Holds no documents: the team's tool answers at once, as that of the floor does.
      DOCUMENTS_DIR: __dirname,
    },
  });
  const redis = connect({ url: server.url, name: `${OWN_CONNECTIONS}questions`, mood: 'prompt' });
  const sender = await startSender(server.url);
  await redis.connect();
  const sessions = new SessionReader(redis, PREFIX);

  const request = async <T>(method: string, path: string, body: object): Promise<T> => {
    const response = await fetch(`${stack.gateways[0]?.url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const isIdle = async (sessionId: string, name: string) => {
    const detail = await sessions.detail(SPACE, sessionId);
    const agent = detail?.agents.find(({ id }) => id === name);
    return agent?.inbox === 0 && !agent.working;
  };
  return {
    stack,
    redis,
    model,
    mailbox: sender.mailbox,
    define: (agent) => request('PUT', `/agents/${agent.id}`, agent),
    open: async (leadAgentId) => (await request<{ id: string }>('POST', '/sessions', { leadAgentId })).id,
    ask: async (leadAgentId, input) =>
      (await request<{ run: Run }>('POST', '/sessions?wait=60', { leadAgentId, input })).run,
    quiet: (sessionId, agent) => {
      const settle = async () => {
        while (!(await isIdle(sessionId, agent))) await rest();
      };
      return within(`${agent} has no work any more`, settle());
    },
    stop: async () => {
      await sender.close();
      redis.disconnect();
      await stack.stop();
      model.stop();
      await server.stop();
    },
  };
}

/** Connections and queues as in `HostNode`, of which this is the part that sends. */
async function startSender(url: string): Promise<{ mailbox: Mailbox; close(): Promise<void> }> {
  const requests = connect({ url, name: `${OWN_CONNECTIONS}requests`, mood: 'prompt' });
  const jobs = connect({ url, name: `${OWN_CONNECTIONS}jobs`, mood: 'patient' });
  const queue = (name: string) => new Queue(name, { ...queueOptions(PREFIX), connection: jobs });
  const queues = { [LEAD_QUEUE]: queue(LEAD_QUEUE), [SUB_AGENT_QUEUE]: queue(SUB_AGENT_QUEUE) };
  const say = (fields: object, message: string) => console.error(message, fields);
  const activations = new ActivationQueue(queues, { debug: () => {}, info: () => {}, warn: say, error: say });
  await requests.connect();
  await Promise.all(Object.values(queues).map((each) => each.waitUntilReady()));
  return {
    mailbox: new RedisMailbox(requests, { prefix: PREFIX, activate: (job) => activations.enqueue(job) }),
    async close() {
      await Promise.all(Object.values(queues).map((each) => each.close()));
      requests.disconnect();
      jobs.disconnect();
    },
  };
}
