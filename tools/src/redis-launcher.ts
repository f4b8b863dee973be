import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnv, environment } from './environment';
import { freePort } from './free-port';
import { guardFolder, guardProcess, unguardProcess } from './orphan-guard';
import { findRedisBinary, type RedisBinary } from './redis-binary';

export interface RedisOptions {
  /** A Redis that already runs: it is used as it is and never stopped. Default: REDIS_URL; `undefined` given: none. */
  url?: string | undefined;
  /** Write the append-only file, `everysec`. Default: keep nothing. */
  appendonly?: boolean;
  /** The data folder, kept at the end. Default: a temporary one, removed at the end. */
  dir?: string;
  /** Default: a free one. */
  port?: number;
  /** As in redis.conf, for example `200mb`. Default: no limit. */
  maxmemory?: string;
}

/** A Redis and the handle to it; `stop`, `kill` and `restart` wait until it is done. */
export interface RunningRedis {
  readonly url: string;
  /** Undefined for a Redis that somebody else runs. */
  readonly pid: number | undefined;
  /** Ends it and removes its temporary folder. A second call, or one for a foreign Redis, does nothing. */
  stop(): Promise<void>;
  /** `kill -9`; the folder stays for `restart`. Throws for a foreign Redis. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder, and kills it first if it runs. Throws for a foreign Redis. */
  restart(): Promise<void>;
}

/**
 * A Redis for this process on 127.0.0.1, with `noeviction` as the mailboxes need it. It ends with this process, however
 * that ends.
 * @throws with the ways out when there is no Redis 7 to be had, or with its last lines when it does not start
 */
export async function startRedis(options: RedisOptions = {}): Promise<RunningRedis> {
  const url = 'url' in options ? options.url : environment().redisUrl;
  if (url) return foreignRedis(url);

  const binary = await findRedisBinary();
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'mailroom-redis-'));
  if (options.dir) mkdirSync(dir, { recursive: true });
  else guardFolder(dir);
  let { port, server } = await launch(binary, dir, options);

  const kill = async (signal: NodeJS.Signals) => {
    server.ref();
    const exited = once(server, 'exit');
    if (server.exitCode === null && server.signalCode === null && server.kill(signal)) await exited;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    async stop() {
      await kill('SIGTERM');
      if (!options.dir) rmSync(dir, { recursive: true, force: true });
    },
    kill: () => kill('SIGKILL'),
    async restart() {
      await kill('SIGKILL');
      ({ port, server } = await launch(binary, dir, { ...options, port }));
    },
  };
}

function foreignRedis(url: string): RunningRedis {
  const refuse = async () => {
    throw new Error('this Redis was given by its URL; only one that the launcher started can be killed or restarted');
  };
  return { url, pid: undefined, stop: async () => {}, kill: refuse, restart: refuse };
}

async function launch(
  binary: RedisBinary,
  dir: string,
  options: RedisOptions,
): Promise<{ port: number; server: ChildProcess }> {
  // A free port may be taken before Redis binds it; only a port that the caller chose is final.
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const { server, output } = await spawnServer(binary, dir, port, options);
    if (server.exitCode === null && server.signalCode === null) return { port, server };
    const taken = output.includes('Address already in use');
    if (taken && options.port === undefined && attempt < 5) continue;
    throw new Error(`${binary.path} did not start on port ${port}:\n${output.trim().split('\n').slice(-5).join('\n')}`);
  }
}

/** Resolves when the server is ready or has ended. */
async function spawnServer(
  binary: RedisBinary,
  dir: string,
  port: number,
  { appendonly, maxmemory }: RedisOptions,
): Promise<{ server: ChildProcess; output: string }> {
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    dir,
    save: '',
    appendonly: appendonly ? 'yes' : 'no',
    appendfsync: 'everysec',
    maxmemory: maxmemory ?? '0',
    'maxmemory-policy': 'noeviction',
  };
  const server = spawn(
    binary.path,
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    // Detached: a Ctrl-C in the terminal must not end Redis before those who still write to it.
    { env: childEnv(binary.env), detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const { pid } = server;
  if (pid !== undefined) {
    guardProcess(pid);
    server.once('exit', () => unguardProcess(pid));
  }
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('Ready to accept connections')) resolve();
    };
    server.stdout.on('data', read);
    server.stderr.on('data', read);
    server.once('exit', () => resolve());
    server.once('error', reject);
  });
  // The pipes stay open and drained, but neither they nor the server keep this process alive.
  for (const pipe of [server.stdout, server.stderr]) {
    pipe.removeAllListeners('data').resume();
    (pipe as unknown as { unref(): void }).unref();
  }
  server.unref();
  return { server, output };
}
