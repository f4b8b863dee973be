import type { Tool } from '@mailroom/capabilities';
import { LEAD, type SessionEvent } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { z } from 'zod';
import { latch } from './testing/latch';
import { askerOf } from './testing/model-server';
import { mailId, send, story, textOf, wait } from './testing/story';
import { TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

const exits = (events: SessionEvent[]) =>
  events.filter(({ event }) => event === 'ax').map(({ agentId, data }) => [agentId, data.reason]);
const isDone = ({ event }: SessionEvent) => event === 'done';

test('R19: cancelling a run aborts model calls at once, closes its tasks as cancelled, and costs no model call', async () => {
  const never = latch();
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one'), wait] }],
      alice: [{ text: 'x', after: never.opened }],
    }),
  });
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  expect(await harness.mailbox.cancelRun(harness.sessionId, 'changed my mind')).toBe(runId);
  const run = await harness.settled(runId);
  expect(run).toMatchObject({ status: 'cancelled', reason: 'changed my mind' });
  const events = await harness.until(({ event, agentId }) => event === 'ax' && agentId === 'alice');
  expect(exits(events)).toEqual([['alice', 'cancelled']]);
  expect(events.filter(({ event }) => event === 'ar').map(({ data }) => data.status)).toEqual(['cancelled']);
  expect(harness.model.requests).toHaveLength(2);
  never.open();
});

test('R19: a cancel aborts a running tool and closes its call, and the next run has a legal history', async () => {
  const started = latch();
  const aborted = latch();
  const forever: Tool = {
    name: 'forever',
    description: 'never ends by itself',
    parameters: z.object({}),
    idempotent: true,
    execute: (_, { signal }) =>
      new Promise(() => {
        started.open();
        signal.addEventListener('abort', () => aborted.open());
      }),
  };
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [
        { calls: [{ name: 'forever', args: {} }] },
        (request) => ({
          text: request.messages
            .filter(({ role }) => role === 'tool')
            .map(({ content }) => content)
            .join(),
        }),
      ],
    }),
    tools: [forever],
    agents: [{ id: 'boss', tools: ['forever'] }],
  });
  await harness.ask('go');
  await started.opened;
  await harness.mailbox.cancelRun(harness.sessionId, 'stop');
  await aborted.opened;
  expect((await harness.settled(await harness.ask('again'))).output).toBe('cancelled');
});

test('R19: an agent that loads later finds nothing of what was cancelled to do', async () => {
  harness = await TeamHarness.start({
    redis,
    answer: story({ lead: [{ calls: [send('alice', 'task', 'one'), wait] }, { text: 'end' }] }),
  });
  harness.holdActivations = true;
  const runId = await harness.ask('go');
  harness.holdActivations = false;
  const [leadJob] = harness.held;
  await harness.mailbox.cancelRun(harness.sessionId, 'early');
  harness.activate(leadJob as never);
  await harness.allLeft();
  expect(await harness.settled(runId)).toMatchObject({ status: 'cancelled' });
  expect(harness.model.requests).toEqual([]);
});

test.each([
  ['alice', 'before claim', 0],
  ['alice', 'after claim', 1],
  [LEAD, 'before claim', 0],
  [LEAD, 'after claim', 1],
])(
  'R19: a run cancelled while %s is being loaded (%s) ends as cancelled, and the next run works',
  async (loading, at, calls) => {
    let cancelled: string | undefined;
    harness = await TeamHarness.start({
      redis,
      answer: (request) => {
        if (cancelled) return { text: 'works' };
        return askerOf(request) === LEAD ? { calls: [send('alice', 'task', 'one'), wait] } : { text: 'never read' };
      },
      settings: { idleMs: 30 },
      at: async (point, { mailbox, sessionId }, agent) => {
        if (!cancelled && agent === loading && point === at)
          cancelled = await mailbox.cancelRun(sessionId, 'changed my mind');
      },
    });
    const runId = await harness.ask('go');
    expect(await harness.settled(runId)).toMatchObject({ status: 'cancelled', reason: 'changed my mind' });
    await harness.allLeft();
    expect(cancelled).toBe(runId);
    expect(harness.model.requests.filter((request) => askerOf(request) === loading).length).toBeLessThanOrEqual(calls);
    const detail = await harness.reader.detail('default', harness.sessionId);
    expect(detail).toMatchObject({ openTasks: [], openQuestions: [] });
    expect(detail?.agents.map(({ state }) => state)).toEqual(['unloaded', 'unloaded', 'unloaded']);
    const next = await harness.ask('again');
    expect(await harness.settled(next)).toMatchObject({ status: 'completed', output: 'works' });
    const events = await harness.until(({ event, runId: of }) => event === 'done' && of === next);
    expect(events.filter(({ event }) => event === 'ar').every(({ data }) => data.status === 'cancelled')).toBe(true);
    if (at === 'before claim') expect(events.filter(({ event }) => event === 'as')).toEqual([]);
  },
);

test('R19: cancelling one agent ends its task as cancelled, and the lead goes on with the others', async () => {
  const never = latch();
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'one'), wait] },
        (request) => ({ text: `saw ${/status="(\w+)"/.exec(textOf(request))?.[1]}` }),
      ],
      alice: [{ text: 'x', after: never.opened }],
    }),
  });
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  await harness.mailbox.cancelAgent(harness.sessionId, 'alice', 'too slow');
  expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'saw cancelled' });
  never.open();
});

test('R19: a shutdown from the lead stops the agent without a model call and gives its task a cancelled result', async () => {
  const never = latch();
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'one')] },
        { calls: [send('alice', 'shutdown', 'stop'), wait] },
        { text: 'end' },
      ],
      alice: [{ text: 'x', after: never.opened }],
    }),
  });
  const runId = await harness.ask('go');
  const events = await harness.until(isDone);
  expect(events.find(({ event }) => event === 'ar')?.data).toMatchObject({ from: 'alice', status: 'cancelled' });
  expect((await harness.settled(runId)).status).toBe('completed');
  expect(harness.model.requests.filter((request) => askerOf(request) === 'alice').length).toBeLessThanOrEqual(1);
  never.open();
});

test('R17: a result that comes after its task was closed is kept as late, wakes nobody, and is read in the next run', async () => {
  const held = latch();
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'one'), wait] },
        { text: 'end' },
        (request) => ({ text: `late: ${textOf(request).includes('late="true"')}` }),
      ],
      alice: [{ text: 'x', after: held.opened }],
    }),
  });
  const first = await harness.ask('go');
  await harness.until(({ event, data }) => event === 'rs' && data.status === 'waiting');
  const [task] = (await harness.reader.detail('default', harness.sessionId))?.openTasks ?? [];
  await harness.mailbox.cancelAgent(harness.sessionId, 'alice', 'too slow');
  expect((await harness.settled(first)).output).toBe('end');
  await harness.mailbox.send(harness.sessionId, {
    from: 'alice',
    to: LEAD,
    type: 'result',
    content: 'here it is',
    inReplyTo: task?.id ?? '',
  });
  expect(harness.model.requests.filter((request) => askerOf(request) === LEAD)).toHaveLength(2);
  expect((await harness.settled(await harness.ask('and?'))).output).toBe('late: true');
  held.open();
});

test('ending a session sends its loaded agents away, and nothing can be sent to it', async () => {
  const never = latch();
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one'), wait] }],
      alice: [{ text: 'x', after: never.opened }],
    }),
  });
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  expect(await harness.mailbox.closeSession(harness.sessionId)).toBe(true);
  await harness.allLeft();
  never.open();
  expect(await harness.reader.run('default', harness.sessionId, runId)).toMatchObject({
    status: 'cancelled',
    reason: 'session_ended',
  });
  await expect(harness.ask('hello?')).rejects.toMatchObject({ code: 'session_closed' });
  expect(mailId(harness.model.requests[0] as never, 'user', 'task')).not.toBe('none');
});
