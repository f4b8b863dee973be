import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { childEnv, environment } from './environment';

const run = promisify(execFile);

/** The oldest Redis with everything the mailbox needs (sharded pub/sub, functions of Lua scripts). */
const OLDEST_MAJOR = 7;

const SERVERS = ['redis-server', 'valkey-server'];

/** Unpacked servers live here; git ignores the folder. */
const CACHE = resolve(__dirname, '../../.cache');

/** A server to start: its path and the variables it needs. */
export interface RedisBinary {
  path: string;
  env: NodeJS.ProcessEnv;
  version: string;
}

/**
 * Finds a Redis or Valkey server of version 7 or newer, in this order: on PATH; unpacked before into
 * `.cache/redis`; unpacked now from the packages of Debian or Ubuntu (needs no root); installed by apt as root.
 * @throws one message with the ways out when there is none
 */
export async function findRedisBinary(cache = CACHE): Promise<RedisBinary> {
  const tooOld: string[] = [];
  const usable = (binary: RedisBinary | undefined): binary is RedisBinary => {
    if (!binary) return false;
    if (Number.parseInt(binary.version, 10) >= OLDEST_MAJOR) return true;
    tooOld.push(`${binary.path} is version ${binary.version}`);
    return false;
  };

  for (const name of SERVERS) {
    const installed = await fromPath(name);
    if (usable(installed)) return installed;
  }
  const cached = await fromFolder(join(cache, 'redis'));
  if (usable(cached)) return cached;
  const reasons: string[] = [];
  if (process.platform === 'linux' && onPath('apt-get') && onPath('dpkg')) {
    try {
      const unpacked = await unpackFromApt(cache);
      if (usable(unpacked)) return unpacked;
    } catch (error) {
      reasons.push(`unpacking it from apt failed: ${lastLine(error)}`);
    }
    if (process.getuid?.() === 0) {
      try {
        await run('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], { timeout: 180_000 });
        const fresh = await fromPath('redis-server');
        if (usable(fresh)) return fresh;
      } catch (error) {
        reasons.push(`installing it with apt failed: ${lastLine(error)}`);
      }
    }
  }
  const found = [...tooOld, ...reasons].map((line) => `\n  (${line})`).join('');
  throw new Error(
    `No Redis ${OLDEST_MAJOR} or newer was found.${found}\n` +
      'Install one:  brew install redis  |  sudo apt-get install redis-server\n' +
      'or run one:   docker run -d -p 127.0.0.1:6379:6379 redis:7\n' +
      'and for a running one set  REDIS_URL=redis://127.0.0.1:6379',
  );
}

function onPath(name: string): string | undefined {
  for (const dir of environment().path.split(delimiter)) {
    const path = join(dir, name);
    try {
      if (dir) accessSync(path, constants.X_OK);
      if (dir) return path;
    } catch {}
  }
  return undefined;
}

async function fromPath(name: string): Promise<RedisBinary | undefined> {
  const path = onPath(name);
  return path === undefined ? undefined : probe(path, {});
}

/** A server below `root`, the folder that packages were unpacked into; undefined when there is none that runs. */
async function fromFolder(root: string): Promise<RedisBinary | undefined> {
  const path = join(root, 'usr/bin/redis-server');
  if (!existsSync(path)) return undefined;
  const folders = ['usr/lib', 'lib']
    .map((lib) => join(root, lib))
    .filter((lib) => existsSync(lib))
    .flatMap((lib) =>
      readdirSync(lib)
        .filter((name) => name.includes('-linux-'))
        .map((name) => join(lib, name)),
    );
  return probe(path, { LD_LIBRARY_PATH: folders.join(delimiter) });
}

async function probe(path: string, env: NodeJS.ProcessEnv): Promise<RedisBinary | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { env: childEnv(env), timeout: 10_000 });
    const version = /\bv=(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
    return version ? { path, env, version } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Downloads what redis-server needs beyond the installed packages and unpacks it, all below the cache folder. Two
 * processes may do it at once: each works in its own folder, the first to rename it wins.
 */
async function unpackFromApt(cache: string): Promise<RedisBinary | undefined> {
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'redis-unpack-'));
  try {
    const debs = await download(work);
    const root = join(work, 'root');
    for (const deb of debs) await run('dpkg', ['-x', deb, root], { timeout: 60_000 });
    if (!(await fromFolder(root))) throw new Error('the unpacked redis-server does not run on this system');
    const home = join(cache, 'redis');
    if (!(await fromFolder(home))) {
      // What is there does not run (another system's, or a broken one): out of the way, in one step.
      if (existsSync(home)) renameSync(home, join(work, 'broken'));
      try {
        renameSync(root, home);
      } catch (error) {
        if (!existsSync(home)) throw error;
      }
    }
    return await fromFolder(home);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function download(work: string): Promise<string[]> {
  const archives = join(work, 'archives');
  mkdirSync(join(archives, 'partial'), { recursive: true });
  mkdirSync(join(work, 'lists/partial'), { recursive: true });
  const apt = (lists: string, ...args: string[]) =>
    run(
      'apt-get',
      [
        ['Dir::State', work],
        ['Dir::State::lists', lists],
        ['Dir::State::status', '/var/lib/dpkg/status'],
        ['Dir::Cache', work],
        ['Dir::Cache::archives', archives],
        ['Debug::NoLocking', '1'],
        ['APT::Sandbox::User', ''],
      ]
        .flatMap(([key, value]) => ['-o', `${key}=${value}`])
        .concat(args),
      { timeout: 120_000, env: childEnv({ LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' }) },
    );
  const fetch = (lists: string) =>
    apt(lists, 'install', '-y', '--download-only', '--no-install-recommends', 'redis-server');
  try {
    await fetch('/var/lib/apt/lists');
  } catch {
    // No package list yet, or an old one. A source that cannot be reached does not matter if another has Redis.
    await apt(join(work, 'lists'), 'update').catch(() => {});
    await fetch(join(work, 'lists'));
  }
  const debs = readdirSync(archives).filter((name) => name.endsWith('.deb'));
  if (!debs.some((name) => name.startsWith('redis-'))) throw new Error('apt gave no redis package');
  return debs.map((name) => join(archives, name));
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).split('\n').at(-1) ?? message;
}
