import { type BenchStand, startBenchStand } from './bench-stand';
import { nowMs } from './clock';
import { type Row, row } from './row';
import { askTeam, defineTeam } from './team-session';

const MODEL_MS = 200;

/** Few places per worker, so that places and not processors are what sessions wait for. */
const CAPACITY = 4;

/** Sessions at a time, more than all the workers have places for. */
const LANES = 24;

const SETTLE_MS = 3_000;
const MEASURE_MS = 7_000;

/** Model calls of a session. */
const CALLS = 8;

/**
 * Sessions per second with one, two and four workers, each of which holds four agents at a time, when the model takes
 * 200 ms: beside the figure of one worker, times their number. A deployment of its own.
 */
export async function growthWorkers(): Promise<Row[]> {
  const stand = await startBenchStand({ workers: 0 });
  const load = new Load(stand);
  try {
    await defineTeam(stand);
    stand.model.latencyMs = MODEL_MS;
    const measured = async (more: number) => {
      for (let started = 0; started < more; started++)
        await stand.stack.startWorker({ WORKER_CAPACITY: String(CAPACITY) });
      return load.sessionsPerSecond();
    };
    const [one, two, four] = [await measured(1), await measured(1), await measured(2)];
    return [
      row('growth-workers-2', '1/s', two, { name: '2 × one worker', value: 2 * one }),
      row('growth-workers', '1/s', four, { name: '4 × one worker', value: 4 * one }),
    ];
  } finally {
    await load.stop();
    await stand.stop();
  }
}

/** Sessions one after the other in each lane, until it is stopped. */
class Load {
  private lanes: Promise<void>[] | undefined;
  private isOver = false;

  constructor(private readonly stand: BenchStand) {}

  /** Counted by model calls, which are finer than sessions, once the load has settled. */
  async sessionsPerSecond(): Promise<number> {
    this.lanes ??= Array.from({ length: LANES }, () => this.lane());
    await pause(SETTLE_MS);
    const before = { at: nowMs(), served: this.stand.model.served };
    await pause(MEASURE_MS);
    return ((this.stand.model.served - before.served) / CALLS / (nowMs() - before.at)) * 1_000;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.lanes ?? []);
  }

  private async lane(): Promise<void> {
    while (!this.isOver) await askTeam(this.stand);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
