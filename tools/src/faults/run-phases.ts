import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ALL_CHECKS } from './checks/all-checks';
import { ClientHistory } from './client-history';
import { type Evidence, EvidenceReader } from './evidence';
import { type FaultStand, startFaultStand } from './fault-stand';
import { Load } from './load';
import type { Phase } from './phase';
import { queueLeftovers } from './queue-leftovers';
import { Random } from './random';
import { watchMemory } from './sampler';
import { dumpStore } from './store-dump';

/** After the last fault every run ends within this time. */
const LIVENESS_MS = 15_000;
/** What one check found is shown up to here. */
const SHOWN = 5;

export interface ProgrammeOptions {
  seed: number;
  phases: readonly Phase[];
  /** The folder of the platform to run; this project when absent. */
  platform?: string;
  /** Whether the histories are kept; when absent, if a check found something. */
  keep?: boolean;
  say: (line: string) => void;
}

/** What one check found in one phase; empty when all is well. */
export interface Verdict {
  phase: string;
  check: string;
  found: string[];
}

/** What the phases of one programme share. */
interface Ground {
  dir: string;
  stand: FaultStand;
  redis: Redis;
  random: Random;
  history: ClientHistory;
  evidence: EvidenceReader;
  say: (line: string) => void;
}

/** Plays the phases on one platform, and checks after each what was written down. Throws when the platform does not start. */
export async function runPhases({ seed, phases, platform, keep, say }: ProgrammeOptions): Promise<Verdict[]> {
  const dir = mkdtempSync(join(tmpdir(), 'mailroom-faults-'));
  mkdirSync(join(dir, 'redis'));
  const random = new Random(seed);
  const history = new ClientHistory(join(dir, 'clients.jsonl'));
  const stand = await startFaultStand({ dir, random: random.named('links'), ...(platform && { platform }) });
  const redis = new Redis(stand.redis.url, { maxRetriesPerRequest: null });
  // Redis goes away on purpose.
  redis.on('error', () => undefined);
  const stopWatching = watchMemory(stand, redis, history);
  const ground: Ground = { dir, stand, redis, random, history, evidence: new EvidenceReader(dir), say };
  const verdicts: Verdict[] = [];
  const isWell = () => verdicts.every(({ found }) => found.length === 0);
  try {
    for (const phase of phases) verdicts.push(...(await play(phase, ground)));
    // What is broken anyway is not waited for.
    if (isWell()) verdicts.push({ phase: 'end', check: 'I7', found: await queueLeftovers(redis) });
  } finally {
    stopWatching();
    redis.disconnect();
    await stand.stop();
    if (keep ?? !isWell()) say(`The histories are in ${dir}`);
    else rmSync(dir, { recursive: true, force: true });
  }
  return verdicts;
}

async function play(phase: Phase, ground: Ground): Promise<Verdict[]> {
  const { dir, stand, redis, random, history } = ground;
  const started = performance.now();
  const counts = new Map<string, number>();
  const loads: Load[] = [];
  await phase.run({
    stand,
    redis,
    history,
    random: random.named(phase.name),
    count: (what, by = 1) => counts.set(what, (counts.get(what) ?? 0) + by),
    load(options) {
      const name = `${phase.name}-${loads.length}`;
      const urls = stand.gateways.map(({ url }) => url);
      const load = new Load({ urls, history, random: random.named(name), name }, options);
      loads.push(load);
      return load;
    },
  });
  await stand.heal();
  await Promise.all(loads.map((load) => load.settle(LIVENESS_MS)));
  await Promise.all(loads.map((load) => load.close()));
  // Lets agents that have just been told of the end go.
  await sleep(300);
  const dump = join(dir, `${phase.name}.dump`);
  await dumpStore(redis, dump);
  const evidence = ground.evidence.read(dump, phase);
  const verdicts = ALL_CHECKS.map((check) => ({ phase: phase.name, check: check.id, found: check.find(evidence) }));
  report(ground, { name: phase.name, seconds: (performance.now() - started) / 1_000, counts }, evidence, verdicts);
  await forget(redis, evidence);
  return verdicts;
}

function report(
  { say }: Ground,
  { name, seconds, counts }: { name: string; seconds: number; counts: Map<string, number> },
  { sessions, prompts }: Evidence,
  verdicts: readonly Verdict[],
): void {
  const failed = verdicts.filter(({ found }) => found.length > 0);
  const messages = sessions.reduce((sum, { ledger }) => sum + ledger.size, 0);
  const results = sessions.flatMap(({ ledger }) => [...ledger.values()].filter(({ type }) => type === 'result'));
  const failures = results.filter(({ status }) => status !== 'ok').length;
  const numbers = [
    ...[...counts].map(([what, count]) => `${count} ${what}`),
    `${sessions.length} sessions`,
    `${messages} messages`,
    `${prompts.length} model calls`,
    ...(failures > 0 ? [`${failures} tasks not ok`] : []),
  ];
  say(
    `${failed.length === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(14)} ${seconds.toFixed(1).padStart(5)} s  ${numbers.join(', ')}`,
  );
  for (const { check, found } of failed) {
    say(`     ${check}, ${found.length} times not so: ${ALL_CHECKS.find(({ id }) => id === check)?.fact}`);
    for (const line of found.slice(0, SHOWN)) say(`        ${line}`);
  }
}

/** Makes room for the next phase. */
async function forget(redis: Redis, { keys }: Evidence): Promise<void> {
  const ours = keys.flatMap(({ key }) => (/\{s\d\d\}:ses_/.test(key) ? key : []));
  for (let i = 0; i < ours.length; i += 500) await redis.unlink(...ours.slice(i, i + 500));
}
