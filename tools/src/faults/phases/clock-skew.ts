import { setTimeout as sleep } from 'node:timers/promises';
import type { Phase } from '../phase';

const FIVE_MINUTES = 300_000;

export const clockSkew: Phase = {
  name: 'clock-skew',
  about: 'a gateway and a worker whose clocks are five minutes late or early',
  async run(site) {
    const { gateways, workers } = site.stand;
    const wrong = [...workers.slice(0, 2), ...gateways.slice(0, 1)];
    await Promise.all(
      wrong.map(async (slot, i) => {
        await slot.stop();
        await slot.start({ clockSkewMs: i % 2 ? -FIVE_MINUTES : FIVE_MINUTES });
      }),
    );
    site.count('wrong clocks', wrong.length);
    site.load({ sessions: 12, overMs: 3_000, input: (index) => `Do it slow-${(index % 5) + 1}.` });
    await sleep(5_000);
  },
};
