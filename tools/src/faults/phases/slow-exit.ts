import { setTimeout as sleep } from 'node:timers/promises';
import type { Phase } from '../phase';

export const slowExit: Phase = {
  name: 'slow-exit',
  about: 'mail that arrives while its recipient leaves over a slow link',
  isOrderly: true,
  async run(site) {
    for (const { link } of site.stand.workers) link.set({ delayMs: 120 });
    site.load({ sessions: 20, overMs: 2_000, input: (index) => `Do it slow-${(index % 5) + 1}.`, steering: 0 });
    await sleep(7_500);
  },
};
