import { type BenchStand, PREFIX } from './bench-stand';
import { rest, until } from './clock';
import { cpuMs } from './cpu-time';
import { HeldAgent } from './held-agent';
import { type Row, row } from './row';

const LONG = 1_000;
const SHORT = 10;

/** Each makes two steps in a turn, one at each pace, and the turns are few, so that the short journals stay short. */
const AGENTS = 60;
const TURNS = 5;
/** In the first one they are loaded. */
const LOAD_TURNS = 3;
/** Of the long ones alone, before: so long the compiler is at work in the worker. */
const WARM_UP_TURNS = 40;

/** All begin together, so that one system call carries what many of them write; or each waits for the one before it. */
type Pace = 'together' | 'alone';

/**
 * The worker's CPU for a step, from its mail to idling again, when the agent's journal is long, beside a short one. The
 * model gets the whole history with each call, 250 KB, and takes longer to read it than a step takes: steps that began
 * together come apart.
 */
export async function growthLoop(stand: BenchStand): Promise<Row[]> {
  await stand.define({ id: 'reader', model: 'waits', maxSteps: 1_000 });
  const [long, short] = [await withJournals(stand, LONG), await withJournals(stand, SHORT)];
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) await stepAll(stand, long, 'together');
  for (let turn = 0; turn < LOAD_TURNS; turn++) await stepAll(stand, short, 'together');
  const used = { together: { long: 0, short: 0 }, alone: { long: 0, short: 0 } };
  for (let turn = 0; turn < TURNS; turn++)
    for (const pace of ['together', 'alone'] as const) {
      used[pace].short += await stepAll(stand, short, pace);
      used[pace].long += await stepAll(stand, long, pace);
    }
  const grown = (name: string, ms: { long: number; short: number }) =>
    row(name, 'ms', ms.long / AGENTS / TURNS, {
      name: `journal of ${SHORT} entries`,
      value: ms.short / AGENTS / TURNS,
    });
  return [grown('growth-loop', used.alone), grown('growth-loop-together', used.together)];
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
async function stepAll(stand: BenchStand, agents: readonly HeldAgent[], pace: Pace): Promise<number> {
  const cpu = () => stand.stack.workers.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
  const before = cpu();
  let wanted = stand.model.served;
  const asked = () => until('the agents ask the model', () => stand.model.served >= wanted);
  for (const { lease } of agents) {
    await stand.mailbox.send(lease.sessionId, { from: 'lead', to: lease.agent, type: 'revision', content: 'Go on.' });
    wanted++;
    if (pace === 'alone') await asked();
  }
  await asked();
  for (let pause = 0; pause < 20; pause++) await rest();
  return cpu() - before;
}
