import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** Jobs of killed processes stay until their locks are over. */
const WITHIN_MS = 12_000;

/** Keys of activation jobs that are still there when all sessions have ended and the locks of the dead are over. */
export async function queueLeftovers(redis: Redis): Promise<string[]> {
  const end = performance.now() + WITHIN_MS;
  for (;;) {
    const left = await jobKeys(redis);
    if (left.length === 0 || performance.now() > end) return left.map((key) => `${key} is left in the queue`);
    await sleep(300);
  }
}

async function jobKeys(redis: Redis): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', '*-queues}:*ses_*', 'COUNT', 1_000);
    cursor = next;
    found.push(...keys);
  } while (cursor !== '0');
  return [...new Set(found)];
}
