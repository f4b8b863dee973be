import { type BenchStand, PREFIX } from './bench-stand';
import { rest, until } from './clock';
import { cpuMs } from './cpu-time';
import { HeldAgent } from './held-agent';
import { type Row, row } from './row';

const LONG = 1_000;
const SHORT = 10;

/** Each makes one step in a turn, so that the short journals stay short. */
const AGENTS = 60;
const TURNS = 10;
/** In the first one they are loaded. */
const WARM_UP_TURNS = 3;

/**
 * The worker's CPU for a step, from its mail to idling again, when the agent's journal is long, beside a short one. The
 * model gets the whole history with each call, so that a part of it has to grow.
 */
export async function growthLoop(stand: BenchStand): Promise<Row[]> {
  await stand.define({ id: 'reader', model: 'waits', maxSteps: 1_000 });
  const [long, short] = [await withJournals(stand, LONG), await withJournals(stand, SHORT)];
  const used = { long: 0, short: 0 };
  for (let turn = 0; turn < TURNS; turn++) {
    const [shortMs, longMs] = [await stepAll(stand, short), await stepAll(stand, long)];
    if (turn < WARM_UP_TURNS) continue;
    used.short += shortMs;
    used.long += longMs;
  }
  const steps = AGENTS * (TURNS - WARM_UP_TURNS);
  return [
    row('growth-loop', 'ms', used.long / steps, { name: `journal of ${SHORT} entries`, value: used.short / steps }),
  ];
}

async function withJournals({ redis }: BenchStand, entries: number): Promise<HeldAgent[]> {
  const agents: HeldAgent[] = [];
  while (agents.length < AGENTS) {
    const agent = await HeldAgent.claim(redis, PREFIX, 'reader');
    await agent.commit(entries);
    await agent.release();
    agents.push(agent);
  }
  return agents;
}

/** Sends each one message, through the mailbox that enqueues; gives the worker's CPU ms. */
async function stepAll(stand: BenchStand, agents: readonly HeldAgent[]): Promise<number> {
  const cpu = () => stand.stack.workers.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
  const before = cpu();
  const wanted = stand.model.served + agents.length;
  for (const { lease } of agents)
    await stand.mailbox.send(lease.sessionId, { from: 'lead', to: lease.agent, type: 'revision', content: 'Go on.' });
  await until('every agent asks the model', () => stand.model.served >= wanted);
  for (let pause = 0; pause < 20; pause++) await rest();
  return cpu() - before;
}
