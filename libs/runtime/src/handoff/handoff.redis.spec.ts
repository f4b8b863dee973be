import { handoffTo as call, dataOf as data, resultsIn as results, startHandoffTeam as start } from '../testing/handoff';
import { type Latch, latch } from '../testing/latch';
import { askerOf, type ScriptedAnswer } from '../testing/model-server';
import { story } from '../testing/story';
import type { TeamHarness } from '../testing/team-harness';

let harness: TeamHarness;
afterEach(() => harness.close());

const requestsOf = (name: string) => harness.model.requests.filter((request) => askerOf(request) === name);
const opens = (door: Latch, answer: ScriptedAnswer) => () => {
  door.open();
  return answer;
};

test('contract 3: the tools of the team are in the first request of the lead, with a task and a context', async () => {
  harness = await start(story({ lead: [{ text: 'done' }] }));
  await harness.settled(await harness.ask('go'));
  const tools = harness.model.requests[0]?.tools?.map(({ function: { name } }) => name);
  expect(tools).toEqual(['subagent_alice', 'subagent_bob', 'answer_question', 'current_time']);
  expect(harness.model.requests[0]?.tools?.[0]?.function.parameters).toMatchObject({
    properties: { task: { type: 'string' }, context: { type: 'string' } },
    required: ['task'],
  });
});

test('contract 6: the result is JSON with sub-agent, tool, output and steps, and the final text is the lead’s own', async () => {
  harness = await start(
    story({
      lead: [{ calls: [call('bob', 'find news', 'of June')] }, { text: 'the answer of the lead' }],
      'bob#1': [{ text: 'found it' }, { text: 'the report of bob' }],
    }),
  );
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'completed', output: 'the answer of the lead' });
  expect(results(requestsOf('lead')[1]).map((text) => JSON.parse(text))).toEqual([
    { subagent: 'bob#1', toolName: 'subagent_bob', output: 'the report of bob', steps: 2 },
  ]);
  expect(requestsOf('bob#1')[0]?.messages[1]?.content).toMatch(
    /<message from="lead" type="task" [^>]*>\nfind news\n<context>\nof June\n<\/context>/,
  );
});

test('contract 7: each call of a new session has a fresh memory; a reused one goes on where it was', async () => {
  harness = await start(
    story({
      lead: [
        { calls: [call('bob'), call('alice', 'first')] },
        { calls: [call('bob'), call('alice', 'second')] },
        { text: 'done' },
      ],
      'bob#1': [{ text: 'one' }, { text: 'report one' }],
      'bob#2': [{ text: 'two' }, { text: 'report two' }],
      alice: [{ text: 'a' }, { text: 'report a' }, { text: 'b' }, { text: 'report b' }],
    }),
    { subAgents: ['bob', { agent: 'alice', sessionMode: 'reuse' }] },
  );
  await harness.settled(await harness.ask('go'));
  const outputs = [1, 2].flatMap((i) => results(requestsOf('lead')[i]).map((text) => JSON.parse(text).output));
  expect(outputs).toEqual(['report one', 'report a', 'report two', 'report b']);
  expect(requestsOf('bob#2')[0]?.messages).toHaveLength(2);
  expect(JSON.stringify(requestsOf('alice')[2]?.messages)).toContain('report a');
});

test('contract 7: calls of a reused colleague come one after the other, also those of one step', async () => {
  let running = 0;
  let most = 0;
  harness = await start(
    story({
      lead: [{ calls: [call('alice', 'first'), call('alice', 'second'), call('alice', 'third')] }, { text: 'done' }],
      alice: Array.from({ length: 6 }, (_, i) => () => {
        if (i % 2 === 0) most = Math.max(most, ++running);
        else running--;
        return { text: `text ${i}` };
      }),
    }),
    { subAgents: [{ agent: 'alice', sessionMode: 'reuse' }] },
  );
  await harness.settled(await harness.ask('go'));
  expect(most).toBe(1);
  expect(results(requestsOf('lead')[1]).map((text) => JSON.parse(text).output)).toEqual(['text 1', 'text 3', 'text 5']);
});

test('contract 8: calls of one step run at the same time, and their results come in the order of the calls', async () => {
  const [alice, bob] = [latch(), latch()];
  harness = await start(
    story({
      lead: [{ calls: [call('alice'), call('bob')] }, { text: 'done' }],
      'alice#1': [opens(alice, { text: 'a', after: bob.opened }), { text: 'report a' }],
      'bob#1': [opens(bob, { text: 'b', after: alice.opened }), { text: 'report b' }],
    }),
  );
  await harness.settled(await harness.ask('go'));
  expect(results(requestsOf('lead')[1]).map((text) => JSON.parse(text).output)).toEqual(['report a', 'report b']);
});

test('contract 10: a handoff has an event when it starts and one when it ends, with all that it was', async () => {
  harness = await start(
    story({
      lead: [{ calls: [call('alice'), call('bob')] }, { text: 'done' }],
      'alice#1': [{ status: 400 }],
      'bob#1': [{ text: 'b' }, { text: 'report b' }],
    }),
  );
  const runId = await harness.ask('go');
  const events = await harness.until(({ event, runId: of }) => event === 'done' && of === runId);
  const common = {
    callId: expect.any(String),
    handoffId: expect.stringMatching(/^hof_/),
    depth: 1,
    sessionMode: 'new',
  };
  expect(data(events, 'hs')).toEqual([
    { ...common, tool: 'subagent_alice', to: 'alice#1', status: 'starting' },
    { ...common, tool: 'subagent_bob', to: 'bob#1', status: 'starting' },
  ]);
  const ended = { ...common, attempts: 1, durationMs: expect.any(Number), content: expect.any(String) };
  expect(data(events, 'he').sort((a, b) => String(a.to).localeCompare(String(b.to)))).toEqual([
    { ...ended, tool: 'subagent_alice', to: 'alice#1', status: 'failed' },
    { ...ended, tool: 'subagent_bob', to: 'bob#1', status: 'completed', content: 'report b' },
  ]);
  expect(
    data(events, 'tr')
      .map(({ name, outcome, error }) => [name, outcome, error])
      .sort(),
  ).toEqual([
    ['subagent_alice', 'failed', true],
    ['subagent_bob', 'completed', undefined],
  ]);
});

test('R19: a cancelled run closes the calls of colleagues and stops them; the next run has a legal history', async () => {
  const never = latch();
  harness = await start(
    story({
      lead: [{ calls: [call('alice'), call('bob')] }, { text: 'the next run' }],
      'alice#1': [{ text: 'x', after: never.opened }],
      'bob#1': [{ text: 'x', after: never.opened }],
    }),
  );
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'bob#1');
  await harness.model.seen((request) => askerOf(request) === 'alice#1');
  await harness.mailbox.cancelRun(harness.sessionId, 'enough');
  expect(await harness.settled(runId)).toMatchObject({ status: 'cancelled' });
  expect(await harness.settled(await harness.ask('again'))).toMatchObject({ output: 'the next run' });
  const request = requestsOf('lead').at(-1);
  expect(
    request?.messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content ?? '')),
  ).toMatchObject([{ errorType: 'handoff_cancelled' }, { errorType: 'handoff_cancelled' }]);
  never.open();
});

test('mail that comes while a colleague is called waits, and is read after the result', async () => {
  const go = latch();
  harness = await start(
    story({
      lead: [{ calls: [call('bob')] }, { text: 'done' }],
      'bob#1': [{ text: 'b', after: go.opened }, { text: 'report' }],
    }),
  );
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'bob#1');
  await harness.ask('and hurry');
  go.open();
  await harness.settled(runId);
  expect(requestsOf('lead')).toHaveLength(2);
  expect(requestsOf('lead')[1]?.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'user',
  ]);
  expect(requestsOf('lead')[1]?.messages.at(-1)?.content).toContain('and hurry');
});

test('while a colleague works its caller can leave, and the result loads it again', async () => {
  const go = latch();
  harness = await start(
    story({
      lead: [{ calls: [call('bob')] }, { text: 'done' }],
      'bob#1': [{ text: 'b', after: go.opened }, { text: 'report' }],
    }),
    {},
    { settings: { idleMs: 1 } },
  );
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'bob#1');
  const leads = () => [...harness.activations].filter((activation) => activation.lease?.agent === 'lead');
  while (leads().length > 0) await new Promise((resolve) => setImmediate(resolve));
  go.open();
  expect(await harness.settled(runId)).toMatchObject({ status: 'completed' });
});
