import type { BenchStand } from './bench-stand';
import { nowMs, within } from './clock';
import { cpuMs } from './cpu-time';
import { inLanes } from './lanes';
import { startPeer } from './peer-process';
import { redisCpuMs } from './redis-info';
import { percentileRows, type Row, row } from './row';
import { askTeam, defineTeam, type TeamMode } from './team-session';

/** All sides work in turns, so that a machine that gets slower does so for all. */
const TURNS = 20;
const SESSIONS_PER_TURN = 40;

/** So many turns it takes until the compiler has done with all sides and their figures stay; these do not count. */
const WARM_UP_TURNS = 50;

/** Sessions at a time. */
const LANES = 10;

/** What one side did in its turns. */
class Account {
  wallMs = 0;
  cpuMs = 0;
  /** CPU of Redis meanwhile. */
  redisMs = 0;
  calls = 0;
  readonly latencies: number[] = [];

  get sessionsPerSecond(): number {
    return (this.latencies.length / this.wallMs) * 1_000;
  }

  get cpuMsPerCall(): number {
    return this.cpuMs / this.calls;
  }

  get callsPerSession(): number {
    return this.calls / this.latencies.length;
  }
}

/**
 * Many sessions of the team of `team-session.ts` at a time. The product works them off through gateway, Redis and
 * worker, by message and by handoff; the floor is the bare `openai` client in one process, which keeps nothing. CPU is that of all the processes
 * of a side, without the model; Redis's own stands apart, beside that of gateway and worker.
 */
export async function teamWork(stand: BenchStand): Promise<Row[]> {
  await defineTeam(stand);
  const bare = await startPeer('openai-team', [stand.model.url]);
  const ours = [...stand.stack.gateways, ...stand.stack.workers].map(({ pid }) => pid);
  const [messages, handoffs, floor] = [new Account(), new Account(), new Account()];
  for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn++) {
    const counts = turn >= WARM_UP_TURNS;
    await book(counts ? floor : new Account(), stand, [bare.pid], async () => {
      const { latencies } = await bare.next<{ latencies: number[] }>({ sessions: SESSIONS_PER_TURN, lanes: LANES });
      return latencies;
    });
    const bookTeam = (account: Account, team: TeamMode) =>
      book(counts ? account : new Account(), stand, ours, () =>
        inLanes(SESSIONS_PER_TURN, LANES, () => askTeam(stand, team)),
      );
    await bookTeam(messages, 'team');
    await bookTeam(handoffs, 'team-handoff');
  }
  await bare.stop();
  return [
    ...rowsOf(messages, floor),
    ...rowsOf(handoffs, floor).map((row) => ({ ...row, name: `${row.name}-handoff` })),
  ];
}

function rowsOf(product: Account, floor: Account): Row[] {
  const beside = 'openai client, bare';
  return [
    row('cpu-per-model-call', 'ms', product.cpuMsPerCall, { name: beside, value: floor.cpuMsPerCall }),
    row('redis-cpu-per-model-call', 'ms', product.redisMs / product.calls, {
      name: 'gateway and worker',
      value: product.cpuMsPerCall,
    }),
    row('sessions-per-second', '1/s', product.sessionsPerSecond, { name: beside, value: floor.sessionsPerSecond }),
    row('calls-per-session', 'calls', product.callsPerSession, { name: beside, value: floor.callsPerSession }),
    ...percentileRows('session', product.latencies, { name: beside, samples: floor.latencies }),
  ];
}

/** Adds one turn to an account. */
async function book(
  account: Account,
  { model, redis }: BenchStand,
  pids: readonly number[],
  work: () => Promise<number[]>,
): Promise<void> {
  const cpu = () => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const before = { redis: await redisCpuMs(redis), at: nowMs(), cpu: cpu(), calls: model.served };
  const latencies = await within('a turn of the team', work());
  account.wallMs += nowMs() - before.at;
  account.cpuMs += cpu() - before.cpu;
  account.redisMs += (await redisCpuMs(redis)) - before.redis;
  account.calls += model.served - before.calls;
  account.latencies.push(...latencies);
}
