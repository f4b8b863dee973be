import { LEADS } from '../load';
import type { Phase } from '../phase';

export const deploy: Phase = {
  name: 'deploy',
  about: 'every process is stopped and started again in turn, under load',
  async run(site) {
    site.load({
      sessions: 30,
      overMs: 11_000,
      leads: LEADS,
      input: (index) => (index % 3 ? 'Do it.' : 'Do it think-long.'),
    });
    for (const slot of site.stand.slots) {
      const { code, ms } = await slot.stop();
      site.history.write('stopped', { process: slot.name, code, ms });
      site.count('restarts');
      await slot.start();
    }
  },
};
