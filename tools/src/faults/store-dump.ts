import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Redis } from 'ioredis';

/** One key of Redis. Lists are arrays, hashes objects, streams and sorted sets arrays of pairs. */
export interface DumpedKey {
  key: string;
  type: string;
  /** Milliseconds to live; -1 without an end. */
  ttl: number;
  value: unknown;
}

/** Writes all keys of Redis into a file of JSON lines. */
export async function dumpStore(redis: Redis, path: string): Promise<void> {
  const file = createWriteStream(path);
  let cursor = '0';
  const seen = new Set<string>();
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 500);
    cursor = next;
    const fresh = keys.filter((key) => !seen.has(key));
    for (const key of fresh) seen.add(key);
    const dumped = await Promise.all(fresh.map((key) => dumpKey(redis, key)));
    for (const each of dumped) if (each) file.write(`${JSON.stringify(each)}\n`);
  } while (cursor !== '0');
  file.end();
  await finished(file);
}

async function dumpKey(redis: Redis, key: string): Promise<DumpedKey | undefined> {
  const [type, ttl] = await Promise.all([redis.type(key), redis.pttl(key)]);
  if (ttl === -2) return undefined;
  return { key, type, ttl, value: await readValue(redis, key, type) };
}

async function readValue(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'stream':
      return redis.xrange(key, '-', '+');
    case 'zset':
      return redis.zrange(key, 0, '-1', 'WITHSCORES');
    case 'set':
      return redis.smembers(key);
    default:
      return redis.get(key);
  }
}
