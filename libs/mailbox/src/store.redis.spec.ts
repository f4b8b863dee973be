import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { checkStore, SCHEMA_VERSION } from './connection';
import { ALL_SLOTS, MailboxKeys } from './keys';
import { BenchSession } from './testing/bench-session';
import { hashSlot } from './testing/hash-slot';
import { keysUnder } from './testing/key-dump';

const redis = testRedis();
let session: BenchSession;
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(() => session.close());

/** Makes every kind of key that a session can have. */
async function fullSession(): Promise<void> {
  const lead = await session.startRun();
  await lead.send('alice', 'task');
  await lead.send('bob', 'task');
  const alice = await session.wake('alice');
  await alice.send(LEAD, 'clarify');
  await alice.say('done', true);
  for (let i = 0; i < 5; i++) {
    await session.load('bob');
    await session.fire('bob', 'lease');
  }
}

test('every key of a session and its due index are in one hash slot of Redis Cluster', async () => {
  await fullSession();
  const keys = await keysUnder(session.redis, session.prefix);
  const kinds = new Set(keys.map((key) => key.split(':')[1]));
  expect([...kinds].sort()).toEqual([
    'agent',
    'closed',
    'dead',
    'due',
    'events',
    'ledger',
    'mailbox',
    'memory',
    'messages',
    'questions',
    'run',
    'runs',
    'session',
    'usage',
  ]);
  const channels = [session.keys.notifyChannel(session.id), session.keys.eventsChannel(session.id)];
  expect(new Set([...keys, ...channels].map(hashSlot)).size).toBe(1);
});

test('no key of an open session expires', async () => {
  await fullSession();
  const dump = await session.dump();
  expect(Object.keys(dump).filter((key) => dump[key]?.expires)).toEqual([]);
});

test('sessions are spread over all slots, and each slot has its own place in the cluster', () => {
  const keys = new MailboxKeys('p');
  const used = new Set(Array.from({ length: 2_000 }, (_, i) => keys.slot(`ses_${i}`)));
  expect([...used].sort()).toEqual([...ALL_SLOTS]);
  expect(hashSlot('123456789')).toBe(12_739);
  expect(new Set(ALL_SLOTS.map((slot) => hashSlot(keys.due(slot)))).size).toBe(ALL_SLOTS.length);
});

test('commands go on when Redis has lost its scripts', async () => {
  await session.ask();
  await session.redis.script('FLUSH');
  const lead = await session.wake(LEAD);
  await session.redis.script('FLUSH');
  await lead.say('done');
  await session.redis.script('FLUSH');
  expect(await lead.exit()).toBe(true);
  expect((await session.events('done')).length).toBe(1);
});

test('a process refuses data of a schema that it does not know, and names the way out', async () => {
  await checkStore(redis.url, redis.prefix);
  const key = session.keys.schema();
  expect(await session.redis.get(key)).toBe(SCHEMA_VERSION);
  await checkStore(redis.url, redis.prefix);
  await session.redis.set(key, '999');
  await expect(checkStore(redis.url, redis.prefix)).rejects.toMatchObject({
    code: 'store_version',
    message: expect.stringMatching(/schema 999.*REDIS_PREFIX/),
  });
  expect(await session.redis.get(key)).toBe('999');
});

test('a Redis that is not there is named without its password', async () => {
  const failure = checkStore('redis://user:secret@127.0.0.1:1', 'p');
  await expect(failure).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/127\.0\.0\.1:1.*REDIS_URL/),
  });
  await expect(failure).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
});

test('the same session id of another request is refused, and changes nothing', async () => {
  const before = await session.dump();
  const again = { id: session.id, space: 'default', leadAgentId: 'boss', roster: [], metadata: {}, settings: {} };
  await session.mailbox.openSession({ ...again, fingerprint: 'bench' });
  await expect(session.mailbox.openSession({ ...again, fingerprint: 'other' })).rejects.toMatchObject({
    code: 'idempotency_conflict',
  });
  expect(await session.dump()).toEqual(before);
});
