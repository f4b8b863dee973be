import type { BenchStand } from './bench-stand';
import { HeldAgent } from './held-agent';
import { scriptMicros } from './redis-info';
import { percentile, type Row, row } from './row';

const PREFIX = 'bench-growth';

/** Pairs of a grown session and a fresh one. */
const PAIRS = 30;
/** Pieces of work with each, in turns; the first ones only warm it up. */
const TURNS = 12;
const WARM_UP_TURNS = 4;

const LONG = 1_000;
const SHORT = 10;
const EVENTS = 10_000;
const EVENTS_AT_ONCE = 500;

/** A step's time in Redis when the agent's journal is long, beside a short one: send, drain, commit. */
export async function growthJournal({ redis }: BenchStand): Promise<Row[]> {
  const withJournal = async (entries: number) => {
    const agent = await HeldAgent.claim(redis, PREFIX);
    await agent.commit(entries);
    await agent.drain();
    return agent;
  };
  const step = async (agent: HeldAgent) => {
    await agent.send();
    await agent.drain();
    await agent.commit();
  };
  const us = await compare(redis, { grown: () => withJournal(LONG), fresh: () => withJournal(SHORT), work: step });
  return [row('growth-journal', 'µs', us.grown, { name: `journal of ${SHORT} entries`, value: us.fresh })];
}

/** A send's time in Redis when the session's event stream is full, beside an empty one. */
export async function growthEvents({ redis }: BenchStand): Promise<Row[]> {
  const fresh = () => HeldAgent.claim(redis, PREFIX);
  const grown = async () => {
    const agent = await fresh();
    for (let number = 1; number <= EVENTS / EVENTS_AT_ONCE; number++) await agent.emit(number, EVENTS_AT_ONCE);
    return agent;
  };
  const us = await compare(redis, { grown, fresh, work: (agent) => agent.send() });
  return [row('growth-events', 'µs', us.grown, { name: 'no events', value: us.fresh })];
}

interface Growth {
  grown: () => Promise<HeldAgent>;
  fresh: () => Promise<HeldAgent>;
  work: (agent: HeldAgent) => Promise<void>;
}

/** Median of the microseconds that a piece of work takes in Redis. */
async function compare(redis: BenchStand['redis'], growth: Growth): Promise<{ grown: number; fresh: number }> {
  const samples = { grown: [] as number[], fresh: [] as number[] };
  for (let pair = 0; pair < PAIRS; pair++) {
    const agents = { grown: await growth.grown(), fresh: await growth.fresh() };
    for (let turn = 0; turn < TURNS; turn++) {
      for (const side of ['grown', 'fresh'] as const) {
        const before = await scriptMicros(redis);
        await growth.work(agents[side]);
        const took = (await scriptMicros(redis)) - before;
        if (turn >= WARM_UP_TURNS) samples[side].push(took);
      }
    }
  }
  return { grown: percentile(samples.grown, 50), fresh: percentile(samples.fresh, 50) };
}
