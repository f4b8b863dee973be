import { LEAD, type SessionEvent } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { latch } from './testing/latch';
import { askerOf } from './testing/model-server';
import { mailId, send, story, textOf, wait } from './testing/story';
import { type HarnessOptions, TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

const start = async (options: Omit<HarnessOptions, 'redis'>) => {
  harness = await TeamHarness.start({ redis, ...options });
};
const leadRequests = () => harness.model.requests.filter((request) => askerOf(request) === LEAD);
const isDone = (event: SessionEvent) => event.event === 'done';

test('R9: a lead that sent one task goes on with its next step by itself', async () => {
  await start({
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'one')] },
        { calls: [send('bob', 'task', 'two')] },
        { calls: [wait] },
        { text: 'done' },
        { text: 'done' },
      ],
    }),
    session: { windowMs: 60_000 },
  });
  await harness.settled(await harness.ask('go'));
  expect(
    harness.model.requests
      .slice(0, 3)
      .map(askerOf)
      .filter((asker) => asker === LEAD).length,
  ).toBeGreaterThanOrEqual(2);
  const sent = (await harness.reader.ledger('default', harness.sessionId, 0, 10)) ?? [];
  expect(sent.filter(({ from }) => from === LEAD).map(({ to }) => to)).toEqual(['alice', 'bob']);
});

test('R14: a text while a task is open is interim, and the run waits without a model call', async () => {
  const held = latch();
  await start({
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one')] }, { text: 'I am on it' }, { text: 'final' }],
      alice: [{ text: 'found', after: held.opened }],
    }),
  });
  const runId = await harness.ask('go');
  await harness.until(({ event, data }) => event === 'rs' && data.status === 'waiting');
  expect(leadRequests()).toHaveLength(2);
  held.open();
  expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'final', usage: { calls: 4 } });
});

test('R14: results that come within the wake window are taken together, and the last open task closes it', async () => {
  await start({
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one'), send('bob', 'task', 'two'), wait] }, { text: 'joined' }],
    }),
    session: { windowMs: 600_000 },
  });
  await harness.settled(await harness.ask('go'));
  expect(leadRequests()).toHaveLength(2);
  expect(textOf(leadRequests()[1] as never).match(/type="result"/g)).toHaveLength(2);
});

test('R14: wakeOn all waits for all tasks, but a failure wakes the lead at once', async () => {
  const held = latch();
  await start({
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'one'), send('bob', 'task', 'two'), send('carol', 'task', 'three'), wait] },
        { text: 'noted' },
        { text: 'end' },
      ],
      alice: [{ text: 'ok' }],
      bob: [{ status: 400 }],
      carol: [{ text: 'late', after: held.opened }],
    }),
    team: ['alice', 'bob', 'carol'],
    session: { wakeOn: 'all' },
  });
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === LEAD && textOf(request).includes('status="failed"'));
  held.open();
  expect((await harness.settled(runId)).output).toBe('end');
});

test('R16: every step of a lead ends with the open tasks and questions, and they are not journaled', async () => {
  await start({
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'one'), wait] },
        (request) => ({ calls: [send('alice', 'clarify_resp', 'Q2', mailId(request, 'alice', 'clarify')), wait] }),
        { text: 'end' },
      ],
      alice: [{ calls: [send('lead', 'clarify', 'Q2 or all year?')] }, { text: 'done for Q2' }],
    }),
  });
  await harness.settled(await harness.ask('go'));
  const [first, second, third] = leadRequests().map((request) => request.messages.at(-1)?.content ?? '');
  expect(first).toMatch(/<facts>\nOpen tasks: none\.\n<\/facts>$/);
  expect(second).toMatch(/alice \| waits for your answer \| under 1 min \| - \| result NOT received \|/);
  expect(second).toMatch(/Open question msg_[0-9a-f]{12} of alice.*NOT answered: Q2 or all year\?/);
  expect(third).toContain('Open tasks: none.');
  const journal = await harness.reader.journal('default', harness.sessionId, LEAD);
  expect(JSON.stringify(journal)).not.toContain('<facts>');
});

test('R18: input during a run is read at the next step, or refused when it asks to be', async () => {
  const held = latch();
  await start({
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one'), wait] }, { text: 'steered' }, { text: 'end' }],
      alice: [{ text: 'found', after: held.opened }],
    }),
  });
  const runId = await harness.ask('go');
  await harness.until(({ event, data }) => event === 'rs' && data.status === 'waiting');
  await expect(harness.ask('no', 'reject')).rejects.toMatchObject({ code: 'run_busy' });
  expect(await harness.ask('shorter please')).toBe(runId);
  await harness.model.seen((request) => textOf(request).includes('shorter please'));
  held.open();
  expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'end' });
});

test('R12: a lead at its step limit closes what is open and answers once more without tools', async () => {
  const held = latch();
  await start({
    answer: (request) => {
      if (askerOf(request) !== LEAD) return { text: 'late', after: held.opened };
      if (!request.tools) return { text: 'what I have' };
      return {
        calls: [textOf(request).includes('queued') ? { name: 'current_time', args: {} } : send('alice', 'task', 'one')],
      };
    },
    agents: [{ id: 'boss', tools: ['current_time'], subAgents: ['alice', 'bob'], maxSteps: 3 }],
  });
  const runId = await harness.ask('go');
  const run = await harness.settled(runId);
  held.open();
  expect(run).toMatchObject({ status: 'completed', reason: 'max_steps', output: 'what I have' });
  expect(leadRequests()).toHaveLength(4);
  expect(textOf(leadRequests()[3] as never)).toMatch(/type="result" .*status="cancelled"/);
});

test('R21: when the model calls are spent the lead answers once more without tools', async () => {
  await start({
    answer: (request) => (request.tools ? { calls: [{ name: 'current_time', args: {} }] } : { text: 'short of calls' }),
    session: { callLimit: 3 },
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({
    status: 'completed',
    reason: 'budget_calls',
    output: 'short of calls',
    usage: { calls: 4 },
  });
  await expect(harness.ask('more')).rejects.toMatchObject({ code: 'budget_spent' });
});

test('R15: a lead that parks with nothing open is told once, then its answer is taken', async () => {
  await start({ answer: (request) => (request.tools ? { calls: [wait] } : { text: 'so be it' }) });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'completed', reason: 'quiescent', output: 'so be it' });
  expect(leadRequests()).toHaveLength(3);
  expect(textOf(leadRequests()[1] as never)).toContain('<message from="system" type="notice"');
});

test('R15: a question that the lead parks over twice is answered by the engine, and the task goes on', async () => {
  await start({
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one'), wait] }, { calls: [wait] }, { calls: [wait] }, { text: 'end' }],
      alice: [
        { calls: [send('lead', 'clarify', 'which year?')] },
        (request) => ({ text: `assumed: ${textOf(request).includes('No answer came')}` }),
      ],
    }),
    settings: { idleMs: 50 },
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'completed', output: 'end' });
  const results = await harness.until(isDone);
  expect(results.find(({ event }) => event === 'ar')?.data.content).toBe('assumed: true');
});

test('R13: a lead whose model call fails ends its run as failed and closes what is open', async () => {
  const held = latch();
  await start({
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one')] }, { status: 400 }],
      alice: [{ text: 'x', after: held.opened }],
    }),
  });
  const run = await harness.settled(await harness.ask('go'));
  held.open();
  expect(run).toMatchObject({ status: 'failed', reason: 'model_refused' });
  expect((await harness.reader.detail('default', harness.sessionId))?.openTasks).toEqual([]);
});

test('R10: an empty answer is asked for once more, and a run never ends as completed with nothing said about it', async () => {
  await start({ answer: story({ lead: [{ text: '' }, { text: '' }] }) });
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({
    status: 'completed',
    reason: 'empty_answer',
    usage: { calls: 2 },
  });
});

test('a second user message in a session starts a second run with the same memory', async () => {
  await start({
    answer: story({
      lead: [{ text: 'first answer' }, (request) => ({ text: `knows: ${textOf(request).includes('first answer')}` })],
    }),
  });
  await harness.settled(await harness.ask('one'));
  expect((await harness.settled(await harness.ask('two'))).output).toBe('knows: true');
  expect((await harness.until(isDone)).filter(({ event }) => event === 'as')).toEqual([]);
});
