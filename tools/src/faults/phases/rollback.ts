import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEADS } from '../load';
import type { Phase } from '../phase';

export const rollback: Phase = {
  name: 'rollback',
  about: 'Redis loses its last second while all processes live on',
  truncated: true,
  async run(site) {
    const { stand } = site;
    const load = site.load({
      leads: LEADS,
      sessions: 30,
      overMs: 300,
      input: (index) => (index % 2 ? 'Do it ponder.' : 'Do it think-long.'),
      steering: 0,
    });
    // What is kept ends before most tasks are given: they are given again, under the same epochs.
    await load.accepted();
    const file = latestLog(join(stand.redisDir, 'appendonlydir'));
    const kept = statSync(file).size;
    await sleep(900);
    const [late] = stand.workers;
    await stand.redis.kill();
    site.count('bytes lost', statSync(file).size - kept);
    truncateSync(file, kept);
    // One worker comes back late, and answers what was given to others under the same epochs.
    late?.link.set({ stalled: true });
    await stand.redis.restart();
    site.history.write('rolled-back', {});
    await sleep(2_000);
    late?.link.set({});
    await sleep(1_000);
  },
};

function latestLog(dir: string): string {
  const logs = readdirSync(dir).filter((name) => name.endsWith('.incr.aof'));
  const latest = logs.sort((a, b) => statSync(join(dir, a)).mtimeMs - statSync(join(dir, b)).mtimeMs).at(-1);
  if (!latest) throw new Error(`no append-only file in ${dir}`);
  return join(dir, latest);
}
