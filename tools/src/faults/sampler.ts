import type { Redis } from 'ioredis';
import type { ClientHistory } from './client-history';
import type { FaultStand } from './fault-stand';

/** Twice a second writes down the memory of each process, and what Redis holds back for its slowest client. */
export function watchMemory(stand: FaultStand, redis: Redis, history: ClientHistory): () => void {
  const look = async () => {
    for (const slot of stand.slots) history.write('sample', { process: slot.name, memory: slot.memory() });
    if (redis.status !== 'ready') return;
    const list = String(await redis.client('LIST'));
    const output = Math.max(0, ...[...list.matchAll(/ omem=(\d+)/g)].map(([, bytes]) => Number(bytes)));
    history.write('sample', { process: 'redis', output });
  };
  // Redis may go away in the middle of it.
  const timer = setInterval(() => void look().catch(() => undefined), 500);
  return () => clearInterval(timer);
}
