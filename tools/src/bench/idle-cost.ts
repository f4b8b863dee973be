import { resolve } from 'node:path';
import { LIMITS } from '@mailroom/contracts';
import { queueOptions } from '@mailroom/hosting';
import { Queue } from 'bullmq';
import { startProcess } from '../process-group';
import { type BenchStand, PREFIX, startBenchStand } from './bench-stand';
import { budgetRow } from './budgets';
import { until } from './clock';
import { countCommands } from './command-count';
import { type Place, unloadedAgents } from './idle-agents';
import { MEMORY_REPORTER, type MemoryUse, memoryPerPiece, memoryUse } from './memory-use';
import { netBytes } from './redis-info';
import { type Row, row } from './row';

/** Idle agents in one worker, in sessions of full teams. */
const AGENTS = 10_000;
const TEAM_SIZE = 8;

const CAPACITY = 12_000;

/** Loads at a time: more would only grow the heap by what they hold meanwhile. */
const LOADING = 100;

/** A task that is worth dropping while its agent waits. */
const TASK = 'Collect the figures of the second quarter, and wait for what comes. '.repeat(15);

/** After that no agent keeps its transcript. */
const FORGETTING_MS = LIMITS.transcriptMs + 500;

/** Long enough for each thing that goes on by itself, the slowest of which is the renewal of job locks. */
const IDLE_S = 30;

/**
 * What ten thousand agents that wait for mail cost: memory of their worker beside that of a bare process which holds as
 * many BullMQ jobs, and their traffic beside its budget. A deployment of its own for them, and one without any agent, which
 * is looked at in the same seconds.
 */
export async function idleCost(): Promise<Row[]> {
  const stand = await startBenchStand({ workers: 0 });
  const quiet = await startBenchStand();
  try {
    const worker = await stand.stack.startWorker({ WORKER_CAPACITY: String(CAPACITY), ...MEMORY_REPORTER });
    const places = await unloadedAgents(stand, 'waits', AGENTS, TEAM_SIZE);
    const empty = await memoryUse(worker);
    await loadAll(stand, places);
    await untilIdle(worker.url, places.length);
    await new Promise((resolve) => setTimeout(resolve, FORGETTING_MS));
    const agent = memoryPerPiece(empty, await memoryUse(worker), AGENTS);
    const job = await heldJob(stand);

    const [idle, none] = await Promise.all([traffic(stand), traffic(quiet)]);
    const processes = quiet.stack.gateways.length + quiet.stack.workers.length;
    await worker.kill();
    const beside = 'BullMQ job, held';
    return [
      row('idle-agent-memory', 'bytes', agent.rss, { name: beside, value: job.rss }),
      row('idle-agent-heap', 'bytes', agent.heapUsed, { name: beside, value: job.heapUsed }),
      budgetRow('redis-commands-per-idle-second', 'commands', idle.commands / AGENTS),
      budgetRow('redis-bytes-per-idle-second', 'bytes', idle.bytes / AGENTS),
      budgetRow('redis-commands-per-idle-process-second', 'commands', none.commands / processes),
    ];
  } finally {
    await Promise.all([stand.stop(), quiet.stop()]);
  }
}

/** Gives each a task, upon which it asks the model once and waits. */
async function loadAll({ mailbox, model }: BenchStand, places: readonly Place[]): Promise<void> {
  const before = model.served;
  for (const [index, { sessionId, agent }] of places.entries()) {
    await mailbox.send(sessionId, { from: 'lead', to: agent, type: 'task', content: TASK });
    if (before + index - model.served > LOADING)
      await until('an agent asks the model', () => before + index - model.served <= LOADING);
  }
}

async function untilIdle(workerUrl: string, count: number): Promise<void> {
  await until(`${count} agents idle`, async () => {
    const { load } = (await (await fetch(`${workerUrl}/health/ready`)).json()) as { load: { idle: number } };
    return load.idle === count;
  });
}

/** The memory of one job of as many, held by a bare process. */
async function heldJob({ stack }: BenchStand): Promise<MemoryUse> {
  const [prefix, queue] = [`${PREFIX}-held`, 'held'];
  const { hostname: host, port } = new URL(stack.redis.url);
  const jobs = new Queue(queue, { ...queueOptions(prefix), connection: { host, port: Number(port) } });
  const holder = await startProcess({
    name: 'job-holder',
    entry: resolve(__dirname, 'processes/job-holder.js'),
    args: [stack.redis.url, prefix, queue, String(CAPACITY)],
    env: MEMORY_REPORTER,
    readyLine: 'holds 0',
  });
  const empty = await memoryUse(holder);
  const data = (index: number) => ({ sessionId: `session_${index}`, agent: 'member-1', epoch: 1 });
  for (let index = 0; index < AGENTS; index += 500)
    await jobs.addBulk(Array.from({ length: 500 }, (_, i) => ({ name: 'hold', data: data(index + i) })));
  await until('all jobs are held', () => holder.output().includes(`holds ${AGENTS}\n`));
  const full = await memoryUse(holder);
  await holder.kill();
  await jobs.close();
  return memoryPerPiece(empty, full, AGENTS);
}

/** What a deployment at rest asks of its Redis in a second. */
async function traffic(stand: BenchStand): Promise<{ commands: number; bytes: number }> {
  const wait = () => new Promise((resolve) => setTimeout(resolve, (IDLE_S * 1_000) / 2));
  const { sent } = await countCommands(stand, { background: true }, wait);
  const before = await netBytes(stand.redis);
  await wait();
  const bytes = (await netBytes(stand.redis)) - before;
  return { commands: sent / (IDLE_S / 2), bytes: bytes / (IDLE_S / 2) };
}
