import { setTimeout as sleep } from 'node:timers/promises';
import { LEADS } from '../load';
import type { Phase } from '../phase';

const LEASE_MS = 1_500;
const FREEZES = 5;

export const zombies: Phase = {
  name: 'zombies',
  about: 'processes that are frozen past their leases and come back',
  async run(site) {
    const { stand, random } = site;
    site.load({
      sessions: 24,
      overMs: 12_000,
      leads: LEADS,
      input: (index) => (index % 2 ? 'Do it think-long.' : 'Do it.'),
    });
    await sleep(500);
    for (let freeze = 0; freeze < FREEZES; freeze++) {
      const frozen = freeze % 3 === 2 ? random.pick(stand.gateways) : random.pick(stand.workers);
      frozen.signal('SIGSTOP');
      await sleep(LEASE_MS * (1.5 + 1.5 * random.next()));
      frozen.signal('SIGCONT');
      site.count('freezes');
      await sleep(random.whole(200, 500));
    }
  },
};
