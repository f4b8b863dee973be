import { testRedis } from '@mailroom/tools';
import { BenchSession } from './testing/bench-session';

const redis = testRedis();
let session: BenchSession;
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(() => session.close());

/** Takes the latest entries of an agent's journal away, as Redis does when it loses its last second. */
async function lose(agent: string, entries: number): Promise<void> {
  for (let i = 0; i < entries; i++) await session.redis.rpop(session.keys.of('memory', session.id, agent));
}

test('a look of a host that holds more of the journal than there is, is out of step; a whole look is not', async () => {
  const lead = await session.startRun();
  await lead.say('an answer');
  await session.ask();
  const { entries } = await lead.read();
  await lose('lead', 1);
  await expect(session.mailbox.readInbox(lead.lease, entries.length)).rejects.toMatchObject({ code: 'out_of_step' });
  expect((await session.mailbox.readInbox(lead.lease, 0)).entries).toHaveLength(entries.length - 1);
});

test('a commit by a host that has read what Redis has lost is out of step and writes nothing', async () => {
  const lead = await session.startRun();
  const known = lead.inbox?.entries.length ?? 0;
  await lose('lead', 1);
  const before = await session.dump();
  await expect(lead.commit({ park: 'yes', known })).rejects.toMatchObject({ code: 'out_of_step' });
  expect(await session.dump()).toEqual(before);
});

test('a look of a host that knows of more commits than there are is out of step, however long the journal is', async () => {
  const lead = await session.startRun();
  await lead.park();
  expect((await session.mailbox.readInbox(lead.lease, 0, 1)).entries).not.toEqual([]);
  await expect(session.mailbox.readInbox(lead.lease, 0, 2)).rejects.toMatchObject({ code: 'out_of_step' });
});
