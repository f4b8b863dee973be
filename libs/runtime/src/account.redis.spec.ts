import { LEAD, type UsageRow } from '@mailroom/contracts';
import { sessionUsageOf } from '@mailroom/mailbox';
import { testRedis } from '@mailroom/tools';
import { handoffTo, resultsIn } from './testing/handoff';
import { latch } from './testing/latch';
import { askerOf } from './testing/model-server';
import { send, story, wait } from './testing/story';
import { TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

async function rows(): Promise<UsageRow[]> {
  await harness.reader.register('default', harness.sessionId);
  return (await harness.accounts.ofSession('default', harness.sessionId)) ?? [];
}
const told = async () => (await rows()).map(({ instance, status, step }) => `${instance} ${step} ${status}`);

test('R21: every call that a team made has its row, with its task, tokens and cost', async () => {
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one'), wait] }, { text: 'end' }],
      alice: [{ calls: [{ name: 'current_time', args: {} }] }, { text: 'found' }],
    }),
    prices: { scripted: { input: 1_000, output: 2_000 } },
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(await told()).toEqual(['lead 1 ok', 'alice 1 ok', 'alice 2 ok', 'lead 2 ok']);
  const [, first] = await rows();
  const task = (await harness.until(({ event }) => event === 'done')).find(
    ({ event, data }) => event === 'am' && data.to === 'alice',
  );
  expect(first).toMatchObject({
    runId: run.id,
    taskId: task?.data.msgId,
    model: 'scripted',
    attempts: 1,
    responseId: 'c',
    input: 10,
    output: 5,
    cost: 0.02,
  });
  expect(run.usage).toMatchObject({ calls: 4, input: 40, output: 20, cost: 0.08, unpricedCalls: 0 });
  expect(harness.model.requests).toHaveLength(4);
  const costs = (await harness.until(({ event }) => event === 'done')).filter(({ event }) => event === 'u');
  expect(costs.map(({ data }) => data.cost)).toEqual([0.02, 0.02, 0.02, 0.02]);
});

test('R21: a call that failed has a row, whether it was an agent or the lead', async () => {
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [{ calls: [send('alice', 'task', 'one'), wait] }, { status: 400 }],
      alice: [{ status: 400 }],
    }),
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'failed', usage: { calls: 1 } });
  expect(await told()).toEqual(['lead 1 ok', 'alice 1 failed', 'lead 2 failed']);
});

test('R21: an answer that its host could not commit shows as lost, the one that counts as ok', async () => {
  const held = latch();
  let isFirst = true;
  harness = await TeamHarness.start({
    redis,
    answer: (request) => {
      if (askerOf(request) === LEAD)
        return story({ lead: [{ calls: [send('alice', 'task', 'one'), wait] }, { text: 'end' }] })(request);
      const after = isFirst ? { after: held.opened } : {};
      isFirst = false;
      return { text: 'found', ...after };
    },
    settings: { leaseMs: 0 },
  });
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  const lease = { sessionId: harness.sessionId, agent: 'alice', kind: 'lease' } as const;
  await harness.due.sweep(lease, { againMs: 1_000, unclaimedMs: 1_000 });
  await harness.settled(runId);
  held.open();
  await harness.allLeft();
  expect(await told()).toEqual(['lead 1 ok', 'alice 1 lost', 'alice 1 ok', 'lead 2 ok']);
  expect(harness.model.requests).toHaveLength(4);
});

test('R21: a step that a stopping host did not begin is made once, and nothing of it is lost', async () => {
  let stopped = 0;
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [{ calls: [{ name: 'current_time', args: {} }] }, { text: 'end' }],
    }),
    at: (point, { activations }) => {
      if (point !== 'before commit' || stopped > 0) return;
      stopped++;
      for (const activation of activations) activation.stop('released');
    },
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'completed', output: 'end' });
  expect(await told()).toEqual(['lead 1 ok', 'lead 2 ok']);
  expect(harness.model.requests).toHaveLength(2);
});

test('R21: a budget of tokens ends the run with one more step, and the lead is told why', async () => {
  harness = await TeamHarness.start({
    redis,
    answer: (request) => (request.tools ? { calls: [{ name: 'current_time', args: {} }] } : { text: 'what I have' }),
    session: { runTokenLimit: 40 },
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'completed', reason: 'run_budget_tokens', output: 'what I have' });
  expect(harness.model.requests).toHaveLength(4);
  expect(harness.model.requests.at(-1)?.messages.at(-1)?.content).toContain('the tokens of this run are spent');
  const warnings = (await harness.until(({ event }) => event === 'done')).filter(({ event }) => event === 'b');
  expect(warnings.map(({ data }) => data)).toEqual([{ scope: 'run', kind: 'tokens', used: 45, limit: 40 }]);
});

describe('R21: what was called as a tool', () => {
  const nested = {
    redis,
    team: ['bob'],
    agents: [
      { id: 'boss', subAgents: ['bob'], collaboration: 'handoff' as const, handoff: { maxDepth: 2 } },
      { id: 'bob', subAgents: ['leaf'], handoff: { maxDepth: 2 } },
      { id: 'leaf' },
    ],
    settings: { depthCap: 2 },
    session: { budgeted: 1 as const },
  };

  test('has an account of its own, and its caller one with all that it called', async () => {
    harness = await TeamHarness.start({
      ...nested,
      answer: story({
        lead: [{ calls: [handoffTo('bob')] }, { text: 'end' }],
        'bob#1': [{ calls: [handoffTo('leaf')] }],
      }),
    });
    expect(await harness.settled(await harness.ask('go'))).toMatchObject({ status: 'completed', output: 'end' });
    const made = await rows();
    expect(made).toHaveLength(harness.model.requests.length);
    expect(made.every(({ status }) => status === 'ok')).toBe(true);
    const { byInstance, byAgent } = sessionUsageOf(harness.sessionId, made);
    const asked = (name: string) => harness.model.requests.filter((request) => askerOf(request) === name).length;
    const [bob, leaf] = [asked('bob#1'), asked('bob#1/leaf#1')];
    expect(byInstance.map(({ own, tree, ...who }) => ({ ...who, own: own.calls, tree: tree.calls }))).toEqual([
      { instance: LEAD, agent: 'boss', own: 2, tree: 2 + bob + leaf },
      { instance: 'bob#1', agent: 'bob', parent: LEAD, own: bob, tree: bob + leaf },
      { instance: 'bob#1/leaf#1', agent: 'leaf', parent: 'bob#1', own: leaf, tree: leaf },
    ]);
    expect(byAgent.map(({ agent, calls }) => [agent, calls])).toEqual([
      ['boss', 2],
      ['bob', bob],
      ['leaf', leaf],
    ]);
  });

  test('and was stopped by the limit of its call shows as lost, under its caller', async () => {
    const held = latch();
    harness = await TeamHarness.start({
      ...nested,
      agents: [
        { id: 'boss', subAgents: ['bob'], collaboration: 'handoff', handoff: { timeoutMs: 50, maxRetries: 0 } },
        { id: 'bob' },
      ],
      answer: (request) => {
        if (askerOf(request) !== LEAD) return { text: 'too late', after: held.opened };
        return resultsIn(request).length > 0 ? { text: 'end' } : { calls: [handoffTo('bob')] };
      },
    });
    await harness.settled(await harness.ask('go'));
    held.open();
    const lost = (await rows()).filter(({ status }) => status === 'lost');
    expect(lost).toMatchObject([{ agent: 'bob', instance: 'bob#1', parent: LEAD, step: 1 }]);
  });
});
