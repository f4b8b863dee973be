import { type BenchStand, OWN_CONNECTIONS } from './bench-stand';
import { type Row, row } from './row';
import { askTeam, defineTeam } from './team-session';

/** The first ones load scripts and connect; they do not count. */
const WARM_UP_SESSIONS = 5;
const SESSIONS = 40;

/**
 * What gateway and worker ask of Redis for one step of an agent, everything around it included: sessions, loads, exits,
 * event streams. Counted with MONITOR over whole sessions of the team, one after the other. What goes on without any
 * session, heartbeats and the sweeper, is left out, since it grows with time and not with steps.
 */
export async function redisCommands(stand: BenchStand): Promise<Row[]> {
  await defineTeam(stand);
  for (let session = 0; session < WARM_UP_SESSIONS; session++) await askTeam(stand);
  const own = await addressesOf(stand);
  const monitor = await stand.redis.monitor();
  const counts = { sent: 0, inScripts: 0 };
  let isCounted = false;
  monitor.on('monitor', (_: string, args: string[], source: string) => {
    // What a script calls comes right after the call of the script.
    if (source !== 'lua') isCounted = !own.has(source) && !isBackground(args);
    if (isCounted) counts[source === 'lua' ? 'inScripts' : 'sent']++;
  });
  const servedBefore = stand.model.served;
  for (let session = 0; session < SESSIONS; session++) await askTeam(stand);
  monitor.disconnect();
  const steps = stand.model.served - servedBefore;
  return [
    row('redis-commands-per-step', 'commands', counts.sent / steps, {
      name: 'inside their scripts',
      value: counts.inScripts / steps,
    }),
  ];
}

/** The connections of this process. */
async function addressesOf({ redis }: BenchStand): Promise<Set<string>> {
  const clients = String(await redis.client('LIST')).split('\n');
  const own = clients.filter((line) => line.includes(` name=${OWN_CONNECTIONS}`));
  return new Set(own.flatMap((line) => / addr=(\S+)/.exec(line)?.[1] ?? []));
}

/** Scripts on a due index alone are those of heartbeat and sweeper; the sweeper's ticks have a queue of their own. */
function isBackground(args: readonly string[]): boolean {
  const [command = '', , , firstKey = ''] = args;
  if (command.toLowerCase() === 'evalsha' && firstKey.includes(':due:')) return true;
  return args.some((arg) => arg.includes(':sweeper:'));
}
