import { type BenchStand, startBenchStand } from './bench-stand';
import { nowMs } from './clock';
import { cpuMs } from './cpu-time';
import { inLanes } from './lanes';
import { PeerFolder, type PeerReport } from './peer-folder';
import { type Row, row } from './row';
import { askTeam, defineTeam } from './team-session';

/** What a peer's program does before it counts; ours does the same, in processes that are as new. */
const WARM_UP_SESSIONS = 5;

/**
 * Two lengths of a run, both from the first session that counts on. In the short one, which is repeated, all sides are
 * still compiling their code; in the long one that is over after a part of it.
 */
const RUNS = [
  { sessions: 100, rounds: 3 },
  { sessions: 600, rounds: 1 },
];

/** Sessions at a time. */
const LANES = 10;

/**
 * The team on other frameworks beside the product's: CPU per model call and sessions per second, one row per peer. Both
 * sides get new processes and the same model, the bench's, and run in turns. A peer does everything in the memory of
 * one process; the product's CPU is that of gateway and worker, Redis's own being a row of `team-work`.
 */
export async function comparePeers({ model }: BenchStand, folder: string): Promise<Row[]> {
  const peers = await PeerFolder.open(folder);
  const rows: Row[] = [];
  for (const { sessions, rounds } of RUNS) {
    const ours: PeerReport[] = [];
    const theirs: PeerReport[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const program of peers.programs) {
        console.error(`  ${program}, ${sessions} sessions …`);
        theirs.push(await peers.measure(program, model.url, sessions, LANES));
      }
      ours.push(await measureOurs(sessions));
    }
    const [own] = medians(ours);
    for (const peer of medians(theirs)) {
      if (!own) continue;
      const beside = `${peer.name}, ${sessions} sessions`;
      const { cpuMsPerModelCall: cpu, sessionsPerSecond: rate } = own;
      rows.push(row('cpu-per-model-call', 'ms', cpu, { name: beside, value: peer.cpuMsPerModelCall }));
      rows.push(row('sessions-per-second', '1/s', rate, { name: beside, value: peer.sessionsPerSecond }));
    }
  }
  return rows;
}

/** The harness of the peers, for a new deployment of the product. */
async function measureOurs(sessions: number): Promise<PeerReport> {
  const stand = await startBenchStand();
  try {
    await defineTeam(stand);
    for (let session = 0; session < WARM_UP_SESSIONS; session++) await askTeam(stand);
    const pids = [...stand.stack.gateways, ...stand.stack.workers].map(({ pid }) => pid);
    const cpu = () => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
    const before = { at: nowMs(), cpu: cpu(), served: stand.model.served };
    await inLanes(sessions, LANES, () => askTeam(stand));
    const wallMs = nowMs() - before.at;
    return {
      name: 'mailroom',
      sessionsPerSecond: (sessions / wallMs) * 1_000,
      cpuMsPerModelCall: (cpu() - before.cpu) / (stand.model.served - before.served),
    };
  } finally {
    await stand.stop();
  }
}

/** One report of each name, with the medians of its figures. */
function medians(reports: readonly PeerReport[]): PeerReport[] {
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
  return [...new Set(reports.map(({ name }) => name))].map((name) => {
    const own = reports.filter((report) => report.name === name);
    return {
      name,
      sessionsPerSecond: median(own.map((report) => report.sessionsPerSecond)),
      cpuMsPerModelCall: median(own.map((report) => report.cpuMsPerModelCall)),
    };
  });
}
