import { setTimeout as sleep } from 'node:timers/promises';
import type { Slot } from '../fault-stand';
import type { Phase, Site } from '../phase';

const IN_GATEWAYS = [
  'http',
  'open',
  'send',
  'sse',
  'enqueue',
  'claim',
  'commit.answer',
  'commit.final',
  'exit',
  'release',
];
const IN_WORKERS = [
  'claim',
  'drain',
  'model',
  'commit.answer',
  'tool',
  'commit.tool',
  'commit.final',
  'exit',
  'release',
  'sweep',
];

/** A process that does not come to its failpoint in this time is ended. */
const PATIENCE_MS = 6_000;
/** A point that only a stopping process comes to. */
const WHEN_STOPPING = 'release';

function pointsOf(actions: readonly string[]): string[] {
  return [...actions.flatMap((action) => [`before:${action}`, `after:${action}`]), 'after:job'];
}

/** One process after the other dies at each of the points; the others take over. */
async function crashAt(slot: Slot, points: readonly string[], site: Site): Promise<void> {
  const random = site.random.named(slot.name);
  for (const point of points) {
    const isRare = /enqueue|exit|release|sweep|job|open/.test(point);
    await slot.kill();
    const isReady = await slot.start({ failpoint: isRare ? point : `${point}#${random.whole(1, 4)}` }).then(
      () => true,
      () => false,
    );
    if (!isReady) {
      // It died before its health was asked for: jobs come at once.
      site.count('points');
      continue;
    }
    const died = slot.process?.exited.then(({ signal }) => signal === 'SIGKILL') ?? true;
    if (point.endsWith(WHEN_STOPPING)) {
      await sleep(random.whole(800, 1_800));
      await slot.stop();
    }
    if (await Promise.race([died, sleep(PATIENCE_MS, false)])) site.count('points');
    else site.count(`not reached ${slot.app} ${point}`);
  }
}

/** The points in turn among the slots, which die at the same time. */
function shared(points: readonly string[], slots: readonly Slot[], site: Site): Promise<void>[] {
  return slots.map((slot, lane) => {
    const own = points.filter((_, i) => i % slots.length === lane);
    return crashAt(slot, own, site);
  });
}

export const crashPoints: Phase = {
  name: 'crash-points',
  about: 'kill -9 before and after every action of the protocol',
  async run(site) {
    const { gateways, workers } = site.stand;
    let isOver = false;
    const lanes = Promise.all([
      // One of each lives on. An agent that were lost five times without one commit would rightly be given up.
      ...shared(pointsOf(IN_GATEWAYS), gateways.slice(0, -1), site),
      ...shared(pointsOf(IN_WORKERS), workers.slice(0, -1), site),
    ]).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      // Slow leads let sub-agents exit, slow members let the lead exit.
      const words = ['', 'slow-6', 'think-long'];
      site.load({
        sessions: 4,
        overMs: 1_500,
        leads: ['chief', 'chief', 'chief', 'captain'],
        input: (index) => `Do it ${words[index % 3]}.`,
      });
      await Promise.race([lanes, sleep(1_700)]);
    }
    await lanes;
  },
};
