import { type BenchStand, OWN_CONNECTIONS } from './bench-stand';

/** Commands that Redis was sent, and those that scripts called. */
export interface Commands {
  sent: number;
  inScripts: number;
}

export interface CountOptions {
  /** Whether to count what goes on without any session, since it grows with time: heartbeats, the sweeper. */
  background: boolean;
  /** Connections of this process whose commands count; their names begin so. Default: none. */
  own?: string;
}

/** Counts commands with MONITOR while `work` goes on. */
export async function countCommands(
  stand: BenchStand,
  options: CountOptions,
  work: () => Promise<unknown>,
): Promise<Commands> {
  const ignored = await addressesOf(stand, options.own);
  const monitor = await stand.redis.monitor();
  const counts = { sent: 0, inScripts: 0 };
  let isCounted = false;
  monitor.on('monitor', (_: string, args: string[], source: string) => {
    // What a script calls comes right after the call of the script.
    if (source !== 'lua') isCounted = !ignored.has(source) && (options.background || !isBackground(args));
    if (isCounted) counts[source === 'lua' ? 'inScripts' : 'sent']++;
  });
  await work();
  monitor.disconnect();
  return counts;
}

/** The connections of this process, without those that count. */
async function addressesOf({ redis }: BenchStand, counted: string | undefined): Promise<Set<string>> {
  const clients = String(await redis.client('LIST')).split('\n');
  const ignored = clients.filter(
    (line) => line.includes(` name=${OWN_CONNECTIONS}`) && !(counted && line.includes(` name=${counted}`)),
  );
  return new Set(ignored.flatMap((line) => / addr=(\S+)/.exec(line)?.[1] ?? []));
}

/** Scripts on a due index alone are those of heartbeat and sweeper; the sweeper's ticks have a queue of their own. */
function isBackground(args: readonly string[]): boolean {
  const [command = '', , , firstKey = ''] = args;
  if (command.toLowerCase() === 'evalsha' && firstKey.includes(':due:')) return true;
  return args.some((arg) => arg.includes(':sweeper:'));
}
