import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningRedis, startRedis } from './redis-launcher';

/** One command on a fresh connection; the raw reply. Rejects when nobody listens. */
async function command(url: string, ...words: string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`);
  const [reply] = await once(socket, 'data');
  socket.destroy();
  return String(reply);
}

describe('the Redis launcher', () => {
  const started: RunningRedis[] = [];
  const start = async (options: Parameters<typeof startRedis>[0] = {}) => {
    const redis = await startRedis({ url: undefined, ...options });
    started.push(redis);
    return redis;
  };
  afterEach(async () => {
    for (const redis of started.splice(0)) await redis.stop();
  });

  it('starts a server of its own that never evicts, and removes its folder at the end', async () => {
    const redis = await start({ maxmemory: '100mb' });
    expect(await command(redis.url, 'PING')).toBe('+PONG\r\n');
    expect(await command(redis.url, 'CONFIG', 'GET', 'maxmemory-policy')).toContain('noeviction');
    expect(await command(redis.url, 'CONFIG', 'GET', 'maxmemory')).toContain('104857600');
    expect(await command(redis.url, 'CONFIG', 'GET', 'bind')).toContain('127.0.0.1');
    const dir = (await command(redis.url, 'CONFIG', 'GET', 'dir')).split('\r\n').at(-2) ?? '';
    expect(existsSync(dir)).toBe(true);

    await redis.stop();
    await redis.stop();
    expect(existsSync(dir)).toBe(false);
    await expect(command(redis.url, 'PING')).rejects.toThrow('ECONNREFUSED');
  });

  it('gives two callers two servers', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect(one?.url).not.toBe(two?.url);
  });

  it('keeps what was written over kill and restart, on the same address, when it writes the append-only file', async () => {
    const redis = await start({ appendonly: true });
    const { pid } = redis;
    await command(redis.url, 'SET', 'key', 'kept');
    await redis.kill();
    await expect(command(redis.url, 'PING')).rejects.toThrow('ECONNREFUSED');
    await redis.restart();
    expect(redis.pid).not.toBe(pid);
    expect(await command(redis.url, 'GET', 'key')).toContain('kept');
  });

  it('keeps a folder that the caller chose', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'mailroom-test-'));
    const redis = await start({ dir, appendonly: true });
    await command(redis.url, 'SET', 'key', 'value');
    await redis.stop();
    expect(readdirSync(dir)).toContain('appendonlydir');
    rmSync(dir, { recursive: true });
  });

  it('says why a server does not start', async () => {
    const { url } = await start();
    await expect(startRedis({ url: undefined, port: Number(new URL(url).port) })).rejects.toThrow(
      'Address already in use',
    );
  });

  it('uses a Redis that is given as it is', async () => {
    const { url } = await start();
    const given = await startRedis({ url });
    expect(given).toMatchObject({ url, pid: undefined });
    await given.stop();
    expect(await command(url, 'PING')).toBe('+PONG\r\n');
    await expect(given.kill()).rejects.toThrow('given by its URL');
  });
});
