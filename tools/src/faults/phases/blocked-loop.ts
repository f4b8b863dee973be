import { setTimeout as sleep } from 'node:timers/promises';
import type { Phase } from '../phase';

export const blockedLoop: Phase = {
  name: 'blocked-loop',
  about: 'tools that hold the event loop of their worker up past its leases',
  async run(site) {
    site.load({ sessions: 16, overMs: 5_000, input: (index) => (index % 5 === 0 ? 'Do it block-west.' : 'Do it.') });
    site.count('blocked', 4);
    await sleep(6_000);
  },
};
