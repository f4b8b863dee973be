import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { askerOf } from './testing/model-server';
import { textOf } from './testing/story';
import { TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

const POINTS = ['claim', 'commit', 'exit'].flatMap((name) => [`before ${name}`, `after ${name}`]);

test.each(POINTS)('a message that comes just %s is processed, and once', async (point) => {
  let isDue = true;
  harness = await TeamHarness.start({
    redis,
    answer: (request) => ({ text: `heard ${(textOf(request).match(/from="user"/g) ?? []).length}` }),
    settings: { idleMs: 1 },
    at: async (now, { mailbox, sessionId }) => {
      if (now !== point || !isDue) return;
      isDue = false;
      await mailbox.send(sessionId, {
        from: 'user',
        to: LEAD,
        type: 'task',
        content: 'second',
        msgId: 'msg_00000000000b',
      });
    },
  });
  await harness.ask('first');
  await harness.allLeft();
  const ledger = (await harness.reader.ledger('default', harness.sessionId, 0, 10)) ?? [];
  expect(ledger.map(({ content }) => content)).toEqual(['first', 'second']);
  const journal = (await harness.reader.journal('default', harness.sessionId, LEAD)) ?? [];
  const read = journal.flatMap((entry) => (entry.kind === 'mail' ? entry.ids : []));
  expect(read).toEqual(ledger.map(({ msgId }) => msgId));
  expect(journal.at(-1)).toMatchObject({ kind: 'assistant', content: 'heard 2' });
  expect((await harness.reader.detail('default', harness.sessionId))?.run?.status).toBe('completed');
});

test.each(['before readInbox', 'after readInbox'])(
  'a message that comes just %s of an agent that another one woke is processed, and once',
  async (point) => {
    let isDue = true;
    harness = await TeamHarness.start({
      redis,
      answer: (request) => ({ text: `heard ${(textOf(request).match(/from="user"/g) ?? []).length}` }),
      at: async (now, { mailbox, sessionId }) => {
        if (now !== point || !isDue) return;
        isDue = false;
        await mailbox.send(sessionId, { from: 'user', to: LEAD, type: 'task', content: 'third' });
      },
    });
    await harness.settled(await harness.ask('first'));
    await harness.ask('second');
    await harness.allLeft();
    expect(isDue).toBe(false);
    const ledger = (await harness.reader.ledger('default', harness.sessionId, 0, 10)) ?? [];
    expect(ledger.map(({ content }) => content)).toEqual(['first', 'second', 'third']);
    const journal = (await harness.reader.journal('default', harness.sessionId, LEAD)) ?? [];
    expect(journal.flatMap((entry) => (entry.kind === 'mail' ? entry.ids : []))).toEqual(
      ledger.map(({ msgId }) => msgId),
    );
    expect(journal.at(-1)).toMatchObject({ kind: 'assistant', content: 'heard 3' });
  },
);

test('a message at any of 1,000 offsets from busy over idle to unloaded is processed', async () => {
  const sessions = 20;
  const offsets = 1_000 / sessions;
  for (let session = 0; session < sessions; session++) {
    harness = await TeamHarness.start({
      redis,
      answer: (request) => ({ text: `answer ${askerOf(request)}` }),
      settings: { idleMs: 1 },
    });
    const stop = new AbortController();
    const events = harness.feed.follow(harness.sessionId, '', stop.signal);
    for (let offset = 0; offset < offsets; offset++) {
      const runId = await harness.ask(`message ${offset}`);
      for await (const event of { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) })
        if (event.event === 'done' && event.runId === runId) break;
      // Turns of the event loop, not time: each offset meets the agent a little later on its way out.
      for (let turn = 0; turn < session * offsets + offset; turn += 13)
        await new Promise((resolve) => setImmediate(resolve));
    }
    stop.abort();
    await events.return(undefined);
    const detail = await harness.reader.detail('default', harness.sessionId);
    expect(detail?.usage.calls).toBe(offsets);
    if (session < sessions - 1) await harness.close();
  }
}, 60_000);
