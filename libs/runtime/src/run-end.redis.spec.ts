import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { latch } from './testing/latch';
import { askerOf } from './testing/model-server';
import { send, story, textOf, wait } from './testing/story';
import { type HarnessOptions, TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

const start = async (options: Omit<HarnessOptions, 'redis'>) => {
  harness = await TeamHarness.start({ redis, ...options, settings: { idleMs: 30, ...options.settings } });
};
const requestsOf = (agent: string) => harness.model.requests.filter((request) => askerOf(request) === agent);
const results = async (runId: string) =>
  (await harness.until(({ event, runId: of }) => event === 'done' && of === runId))
    .filter(({ event }) => event === 'ar')
    .map(({ data }) => [data.from, data.status]);
const delegate = { calls: [send('alice', 'task', 'one'), wait] };

test.each([
  ['before', 'the same run, which reads it and answers again'],
  ['after', 'a run of its own'],
])('R14, R18: input that comes just %s the commit that settles a run belongs to %s', async (order) => {
  let second: string | undefined;
  await start({
    answer: story({ lead: [{ text: 'first' }, { text: 'second' }] }),
    at: async (point, team, agent) => {
      if (point === `${order} commit` && agent === LEAD) second ??= await team.ask('and this?');
    },
  });
  const first = await harness.ask('go');
  if (order === 'before') {
    expect(await harness.settled(first)).toMatchObject({ status: 'completed', output: 'second' });
    expect(second).toBe(first);
  } else {
    expect(await harness.settled(first)).toMatchObject({ status: 'completed', output: 'first' });
    expect(second).not.toBe(first);
    expect(await harness.settled(second ?? '')).toMatchObject({ status: 'completed', output: 'second' });
  }
  expect(requestsOf(LEAD)).toHaveLength(2);
});

describe('R12: what comes while a lead makes its last step', () => {
  const agents = [{ id: 'boss', subAgents: ['alice', 'bob'], maxSteps: 1 }];
  const alice = [{ calls: [send('lead', 'clarify', 'may I?')] }];

  test('R12, R14: input is read in one more step without tools, and then the run settles', async () => {
    const held = latch();
    await start({
      agents,
      answer: story({
        lead: [
          delegate,
          { text: 'what I have', after: held.opened },
          (request) => ({ text: `shorter, tools: ${request.tools !== undefined}` }),
        ],
        alice,
      }),
    });
    const runId = await harness.ask('go');
    await harness.model.seen((request) => askerOf(request) === LEAD && !request.tools);
    expect(await harness.ask('shorter please')).toBe(runId);
    held.open();
    expect(await harness.settled(runId)).toMatchObject({
      status: 'completed',
      reason: 'max_steps',
      output: 'shorter, tools: false',
    });
    expect(requestsOf(LEAD)).toHaveLength(3);
  });

  test('R17: the late result of a task that was closed costs no further step, and is read in the next run', async () => {
    const held = latch();
    await start({
      agents,
      answer: story({
        lead: [
          delegate,
          { text: 'what I have', after: held.opened },
          (request) => ({ text: `late: ${textOf(request).includes('late="true"')}` }),
        ],
        alice,
      }),
    });
    const runId = await harness.ask('go');
    const last = await harness.model.seen((request) => askerOf(request) === LEAD && !request.tools);
    const inReplyTo = /queued for alice as (msg_\w+)/.exec(textOf(last))?.[1] ?? '';
    await harness.mailbox.send(harness.sessionId, { from: 'alice', to: LEAD, type: 'result', content: 'x', inReplyTo });
    held.open();
    expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'what I have' });
    expect(requestsOf(LEAD)).toHaveLength(2);
    expect((await harness.settled(await harness.ask('and?'))).output).toBe('late: true');
  });
});

test('R21: when agents spend the calls, all open tasks are cancelled, and the lead has the one reserved step', async () => {
  const callLimit = 10;
  await start({
    answer: (request) => {
      if (askerOf(request) !== LEAD) return { calls: [{ name: 'current_time', args: {} }] };
      if (!request.tools) return { text: 'short of calls' };
      return { calls: [...['alice', 'bob', 'carol'].map((name) => send(name, 'task', 'one')), wait] };
    },
    team: ['alice', 'bob', 'carol'],
    session: { callLimit },
  });
  const runId = await harness.ask('go');
  expect((await results(runId)).sort()).toEqual([
    ['alice', 'cancelled'],
    ['bob', 'cancelled'],
    ['carol', 'cancelled'],
  ]);
  expect(await harness.settled(runId)).toMatchObject({
    status: 'completed',
    reason: 'budget_calls',
    output: 'short of calls',
  });
  await harness.allLeft();
  // A call that was reserved and cancelled before it was made reaches nobody.
  expect(harness.model.requests.length).toBeLessThanOrEqual(callLimit + 1);
  expect(requestsOf(LEAD)).toHaveLength(2);
  await expect(harness.ask('more')).rejects.toMatchObject({ code: 'budget_spent' });
});
