import { testRedis } from '@mailroom/tools';
import fc from 'fast-check';
import { HandoffWalk } from './testing/handoff-walk';

const redis = testRedis();

/** The same walks in every run; a failure prints this seed, its path, and the shortest walk that fails. */
const SEED = 20_270_214;

const number = (max: number) => fc.nat({ max });
const stride = fc.record({ kind: number(29), pick: number(11), wish: number(23), isTwice: fc.boolean() });

test('any walk through calls, reports, questions, limits, cancels, losses and resends keeps the rules of handoffs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stride, { maxLength: 120, size: 'max' }), async (strides) => {
      const walk = await HandoffWalk.open(redis);
      try {
        for (const one of strides) await walk.go(one);
        await walk.end();
      } finally {
        await walk.bench.close();
      }
    }),
    { numRuns: 40, seed: SEED, endOnFailure: false },
  );
}, 60_000);
