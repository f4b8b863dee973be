import type { BenchStand } from './bench-stand';
import { budgetRow } from './budgets';
import { countCommands } from './command-count';
import { netBytes } from './redis-info';
import type { Row } from './row';
import { askTeam, defineTeam } from './team-session';

/** The first ones load scripts and connect; they do not count. */
const WARM_UP_SESSIONS = 5;
const SESSIONS = 40;

/**
 * What gateway and worker ask of Redis for one step of an agent, everything around it included: sessions, loads, exits,
 * event streams. Counted over whole sessions of the team, one after the other; what goes on without any session is left
 * out. Bytes are counted in sessions of their own, since MONITOR is traffic too.
 */
export async function redisCommands(stand: BenchStand): Promise<Row[]> {
  await defineTeam(stand);
  await askTeams(stand, WARM_UP_SESSIONS);
  let servedBefore = stand.model.served;
  const { sent, inScripts } = await countCommands(stand, { background: false }, () => askTeams(stand, SESSIONS));
  const steps = stand.model.served - servedBefore;

  servedBefore = stand.model.served;
  const bytesBefore = await netBytes(stand.redis);
  await askTeams(stand, SESSIONS);
  const bytes = (await netBytes(stand.redis)) - bytesBefore;
  return [
    budgetRow('redis-commands-per-step', 'commands', sent / steps),
    budgetRow('redis-commands-in-scripts-per-step', 'commands', inScripts / steps),
    budgetRow('redis-bytes-per-step', 'bytes', bytes / (stand.model.served - servedBefore)),
  ];
}

async function askTeams(stand: BenchStand, sessions: number): Promise<void> {
  for (let session = 0; session < sessions; session++) await askTeam(stand);
}
