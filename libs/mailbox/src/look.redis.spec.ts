import { type JournalEntry, LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { BenchSession } from './testing/bench-session';

const redis = testRedis();
let session: BenchSession;
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(() => session.close());

test('the look of a commit begins after the entries of the part if the host holds all before them, else after those it holds', async () => {
  const lead = await session.startRun();
  const note: JournalEntry = { kind: 'engine', code: 'nudge', text: 'as it was sent' };
  const send = { callId: 'call_1', msgId: 'msg_1', to: 'alice', type: 'task', content: 'a task' };
  let journal = await session.journal(LEAD);
  await session.ask();
  const whole = await lead.step({ entries: [note], sends: [send], known: journal.length });
  expect(whole.held).toBe(true);
  expect([...journal, note, ...(whole.inbox?.entries ?? [])]).toEqual(await session.journal(LEAD));
  expect(whole.inbox?.entries.map(({ kind }) => kind)).toEqual(['sent', 'mail']);

  journal = await session.journal(LEAD);
  await session.ask();
  const part = await lead.step({ entries: [note], known: journal.length - 1 });
  expect(part.held).toBeUndefined();
  expect([...journal.slice(0, -1), ...(part.inbox?.entries ?? [])]).toEqual(await session.journal(LEAD));
});
