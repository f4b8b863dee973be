import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Shared } from './shared';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('objects that are alike are one', () => {
  const shared = new Shared<{ name: string; team: string[] }>();
  const first = shared.one({ name: 'alice', team: ['bob'] });
  expect(shared.one({ name: 'alice', team: ['bob'] })).toBe(first);
  expect(shared.one({ name: 'alice', team: ['carol'] })).not.toBe(first);
});

test('an object that nobody uses is not kept', async () => {
  const shared = new Shared<{ name: string }>();
  const unused = new WeakRef(shared.one({ name: 'alice' }));
  // An object that was looked at stays until the turn has ended.
  await turn();
  collectGarbage();
  expect(unused.deref()).toBeUndefined();
});
