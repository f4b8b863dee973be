import { setTimeout as sleep } from 'node:timers/promises';
import { LEADS } from '../load';
import type { Phase } from '../phase';
import type { LinkFault } from '../tcp-proxy';

/** Each for this long. */
const LASTS_MS = 4_500;

export const network: Phase = {
  name: 'network',
  about: 'links to Redis that are cut, half-open, slow, narrow, or lose replies',
  async run(site) {
    const { stand, random } = site;
    const everywhere = (fault: LinkFault) => {
      for (const { link } of stand.slots) link.set(fault);
    };
    site.load({ sessions: 36, overMs: LASTS_MS * 5 - 1_000, input: (index) => `Do it slow-${(index % 5) + 1}.` });
    const end = performance.now() + LASTS_MS;
    while (performance.now() < end) {
      random.pick(stand.slots).link.cut();
      site.count('cuts');
      await sleep(random.whole(100, 400));
    }
    const stalled = [random.pick(stand.workers), random.pick(stand.gateways)];
    for (const { link } of stalled) link.set({ stalled: true });
    await sleep(LASTS_MS);
    everywhere({ delayMs: 150 });
    await sleep(LASTS_MS);
    everywhere({ bytesPerSecond: 50_000 });
    await sleep(LASTS_MS);
    everywhere({ dropReply: 0.06 });
    // Many accepted messages, of which nobody heard.
    site.load({ sessions: 10, overMs: LASTS_MS - 1_000, leads: LEADS, steering: 1 });
    await sleep(LASTS_MS);
    everywhere({});
  },
};
