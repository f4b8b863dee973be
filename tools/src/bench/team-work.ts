import type { BenchStand } from './bench-stand';
import { nowMs, within } from './clock';
import { cpuMs } from './cpu-time';
import { inLanes } from './lanes';
import { startPeer } from './peer-process';
import { redisCpuMs } from './redis-info';
import { percentileRows, type Row, row } from './row';
import { askTeam, defineTeam } from './team-session';

/** Both sides work in turns, so that a machine that gets slower does so for both. */
const TURNS = 10;
const SESSIONS_PER_TURN = 40;

/** So many turns it takes until the compiler has done with both sides and their figures stay; these do not count. */
const WARM_UP_TURNS = 14;

/** Sessions at a time. */
const LANES = 10;

/** What one side did in its turns. */
class Account {
  wallMs = 0;
  cpuMs = 0;
  calls = 0;
  readonly latencies: number[] = [];

  get sessionsPerSecond(): number {
    return (this.latencies.length / this.wallMs) * 1_000;
  }

  get cpuMsPerCall(): number {
    return this.cpuMs / this.calls;
  }
}

/**
 * Many sessions of the team of `team-session.ts` at a time. The product works them off through gateway, Redis and
 * worker; the floor is the bare `openai` client in one process, which keeps nothing. CPU is that of all the processes
 * of a side, without the model; Redis's own stands apart, beside that of gateway and worker.
 */
export async function teamWork(stand: BenchStand): Promise<Row[]> {
  await defineTeam(stand);
  const bare = await startPeer('openai-team', [stand.model.url]);
  const ours = [...stand.stack.gateways, ...stand.stack.workers].map(({ pid }) => pid);
  const [product, floor] = [new Account(), new Account()];
  let redisMs = 0;
  for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn++) {
    const counts = turn >= WARM_UP_TURNS;
    await book(counts ? floor : new Account(), stand, [bare.pid], async () => {
      const { latencies } = await bare.next<{ latencies: number[] }>({ sessions: SESSIONS_PER_TURN, lanes: LANES });
      return latencies;
    });
    const redisBefore = await redisCpuMs(stand.redis);
    await book(counts ? product : new Account(), stand, ours, () =>
      inLanes(SESSIONS_PER_TURN, LANES, () => askTeam(stand)),
    );
    if (counts) redisMs += (await redisCpuMs(stand.redis)) - redisBefore;
  }
  await bare.stop();
  const beside = 'openai client, bare';
  return [
    row('cpu-per-model-call', 'ms', product.cpuMsPerCall, { name: beside, value: floor.cpuMsPerCall }),
    row('redis-cpu-per-model-call', 'ms', redisMs / product.calls, {
      name: 'gateway and worker',
      value: product.cpuMsPerCall,
    }),
    row('sessions-per-second', '1/s', product.sessionsPerSecond, { name: beside, value: floor.sessionsPerSecond }),
    row('calls-per-session', 'calls', product.calls / product.latencies.length, {
      name: beside,
      value: floor.calls / floor.latencies.length,
    }),
    ...percentileRows('session', product.latencies, { name: beside, samples: floor.latencies }),
  ];
}

/** Adds one turn to an account. */
async function book(
  account: Account,
  { model }: BenchStand,
  pids: readonly number[],
  work: () => Promise<number[]>,
): Promise<void> {
  const cpu = () => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const before = { at: nowMs(), cpu: cpu(), calls: model.served };
  const latencies = await within('a turn of the team', work());
  account.wallMs += nowMs() - before.at;
  account.cpuMs += cpu() - before.cpu;
  account.calls += model.served - before.calls;
  account.latencies.push(...latencies);
}
