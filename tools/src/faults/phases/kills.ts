import { setTimeout as sleep } from 'node:timers/promises';
import { LEADS } from '../load';
import type { Phase } from '../phase';

const LASTS_MS = 24_000;

export const kills: Phase = {
  name: 'kills',
  about: 'kill -9 of a random gateway or worker every 1 to 3 s',
  async run(site) {
    const { stand, random } = site;
    site.load({ sessions: 40, overMs: LASTS_MS - 4_000, leads: LEADS });
    const end = performance.now() + LASTS_MS;
    const starting: Promise<void>[] = [];
    while (performance.now() < end) {
      await sleep(random.whole(1_000, 3_000));
      const running = stand.slots.filter(({ process }) => process);
      // Somebody has to be there to take over.
      const expendable = running.filter(({ app }) => running.filter((other) => other.app === app).length > 1);
      if (expendable.length === 0) continue;
      const slot = random.pick(expendable);
      await slot.kill();
      site.count('kills');
      starting.push(slot.start());
    }
    await Promise.all(starting);
  },
};
