import type { AgentDefinition } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { AgentDirectory } from './agent-directory';
import { BenchSession } from './testing/bench-session';

const redis = testRedis();
let session: BenchSession;
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(() => session.close());

const define = (id: string, description: string) => ({ id, description, status: 'ACTIVE' }) as AgentDefinition;

test('R20: each look finds the definitions as they are now, the own ones of the space before those of files', async () => {
  const writer = new AgentDirectory(session.redis, session.prefix);
  const reader = new AgentDirectory(session.redis, session.prefix);
  const found = async () =>
    (await (await reader.current()).find('default', ['a', 'B', 'a'])).map((agent) => agent?.description);

  expect(await found()).toEqual([undefined, undefined, undefined]);
  await writer.publishFiles([define('a', 'file a'), define('b', 'file b')]);
  expect(await found()).toEqual(['file a', 'file b', 'file a']);
  await writer.replace('default', define('a', 'own a'));
  expect(await found()).toEqual(['own a', 'file b', 'own a']);
  await writer.replace('default', define('B', 'own b'));
  expect(await found()).toEqual(['own a', 'own b', 'own a']);
  await writer.replace('default', define('a', 'new a'));
  expect(await found()).toEqual(['new a', 'own b', 'new a']);
  await writer.remove('default', 'b');
  expect(await found()).toEqual(['new a', 'file b', 'new a']);
  await writer.publishFiles([]);
  await writer.remove('default', 'a');
  expect(await found()).toEqual([undefined, undefined, undefined]);
});

test('definitions are read once, by as many as ask, until somebody writes one', async () => {
  const writer = new AgentDirectory(session.redis, session.prefix);
  const reader = new AgentDirectory(session.redis, session.prefix);
  await writer.replace('default', define('a', 'own a'));
  const [first, second] = [await reader.current(), await reader.current()];
  const [[a], [same]] = [await first.find('default', ['a']), await second.find('default', ['A'])];
  expect(same).toBe(a);
  await writer.create('other', define('b', 'another'));
  const [again] = await (await reader.current()).find('default', ['a']);
  expect(again).not.toBe(a);
  expect(again).toEqual(a);
});

test('a space does not see the definitions of another one', async () => {
  const directory = new AgentDirectory(session.redis, session.prefix);
  await directory.replace('default', define('a', 'own a'));
  const definitions = await directory.current();
  expect(await definitions.find('other', ['a'])).toEqual([undefined]);
  expect(await definitions.find('default', ['a'])).toEqual([define('a', 'own a')]);
});
