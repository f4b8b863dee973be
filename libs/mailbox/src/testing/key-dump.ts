import type { Redis } from 'ioredis';

/** All that Redis holds under a prefix: each key's type, whether it expires, and its value, in a comparable form. */
export type KeyDump = Record<string, { type: string; expires: boolean; value: unknown }>;

/** Every key under the prefix, found by SCAN. */
export async function keysUnder(redis: Redis, prefix: string): Promise<string[]> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${prefix}:*`, 'COUNT', 1_000);
    for (const key of found) keys.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...keys].sort();
}

export async function dumpKeys(redis: Redis, prefix: string): Promise<KeyDump> {
  const keys = await keysUnder(redis, prefix);
  const dumped = await Promise.all(
    keys.map(async (key) => {
      const [type, ttl] = await Promise.all([redis.type(key), redis.pttl(key)]);
      return [key, { type, expires: ttl >= 0, value: await readKey(redis, key, type) }] as const;
    }),
  );
  return Object.fromEntries(dumped);
}

function readKey(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return redis.get(key);
  }
}
