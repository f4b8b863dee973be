import { setTimeout as sleep } from 'node:timers/promises';
import { LEADS } from '../load';
import type { Phase } from '../phase';

export const store: Phase = {
  name: 'store',
  about: 'Redis is stopped, killed, away for 8 s, without its scripts, paused, full',
  async run(site) {
    const { stand, redis } = site;
    site.load({ sessions: 40, overMs: 24_000, leads: LEADS });
    await sleep(1_500);
    await stand.redis.stop();
    await stand.redis.restart();
    await sleep(3_000);
    await stand.redis.kill();
    await stand.redis.restart();
    await sleep(3_000);
    // Longer than a consumer waits for a job.
    await stand.redis.kill();
    await sleep(8_000);
    await stand.redis.restart();
    await sleep(2_500);
    for (let flush = 0; flush < 10; flush++) {
      await redis.script('FLUSH');
      await sleep(150);
    }
    await redis.call('CLIENT', 'PAUSE', '2000', 'ALL');
    await sleep(3_000);
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', used);
    await sleep(2_500);
    await redis.config('SET', 'maxmemory', 0);
    await sleep(1_000);
    site.count('troubles', 6);
  },
};
