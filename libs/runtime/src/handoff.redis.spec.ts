import type { Tool } from '@mailroom/capabilities';
import type { SessionEvent } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { z } from 'zod';
import { latch } from './testing/latch';
import { askerOf, type ModelRequestBody } from './testing/model-server';
import { story } from './testing/story';
import { type HarnessOptions, TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

type Boss = NonNullable<HarnessOptions['agents']>[number];
const start = (
  answer: HarnessOptions['answer'],
  boss: Partial<Boss> = {},
  more: Partial<HarnessOptions> = {},
): Promise<TeamHarness> =>
  TeamHarness.start({
    redis,
    answer,
    ...more,
    agents: [{ id: 'boss', subAgents: ['alice', 'bob'], collaboration: 'handoff', ...boss }, ...(more.agents ?? [])],
  });
const call = (name: string, task = `a task for ${name}`, context?: string) => ({
  name: `subagent_${name}`,
  args: { task, ...(context !== undefined && { context }) },
});
/** The tool results of the last answer that a request shows, in order. */
const results = (request: ModelRequestBody | undefined) => {
  const messages = request?.messages ?? [];
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(last + 1).flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
};
const requestsOf = (name: string) => harness.model.requests.filter((request) => askerOf(request) === name);
const data = (events: SessionEvent[], code: string) =>
  events.filter(({ event }) => event === code).map((event) => event.data);
const eventsOf = () => harness.feed.read(harness.sessionId, '');
const fallbackTool = (name: string, run: () => string): Tool => ({
  name,
  description: 'the own tool of the lead',
  parameters: z.object({ task: z.string() }).partial(),
  idempotent: false,
  execute: run,
});

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
      'alice#1': [() => (alice.open(), { text: 'a', after: bob.opened }), { text: 'report a' }],
      'bob#1': [() => (bob.open(), { text: 'b', after: alice.opened }), { text: 'report b' }],
    }),
  );
  await harness.settled(await harness.ask('go'));
  expect(results(requestsOf('lead')[1]).map((text) => JSON.parse(text).output)).toEqual(['report a', 'report b']);
});

test('contract 9: of two calls one fails and falls back; both have a result and the run ends well', async () => {
  harness = await start(
    story({
      lead: [{ calls: [call('alice'), call('bob')] }, { text: 'done' }],
      'alice#1': [{ status: 400 }],
      'bob#1': [{ text: 'b' }, { text: 'report b' }],
    }),
    { tools: ['subagent_alice'], handoff: { onError: 'fallback_to_primary' } },
    { tools: [fallbackTool('subagent_alice', () => 'the own tool says')] },
  );
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({ status: 'completed', output: 'done' });
  const [own, report] = results(requestsOf('lead')[1]);
  expect(own).toBe('the own tool says');
  expect(JSON.parse(report ?? '')).toMatchObject({ output: 'report b' });
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
});

test('contract 12: a denied call with `fail` ends the run of the lead, and nothing of the step is done', async () => {
  harness = await start(story({ lead: [{ calls: [call('alice'), call('bob')] }] }), {
    handoff: { deniedTools: ['subagent_bob'] },
  });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'failed', reason: 'handoff_denied' });
  expect(run.output).toBe('the handoff policy denied subagent_bob: deniedTools names "subagent_bob"');
  expect(harness.model.requests).toHaveLength(1);
  expect(data(await eventsOf(), 'he')).toMatchObject([{ status: 'denied', attempts: 0, tool: 'subagent_bob' }]);
});

test('contract 12: a denied call with `fallback_to_primary` is answered by the own tool, with the original call', async () => {
  const seen: unknown[] = [];
  const own = { ...fallbackTool('subagent_bob', () => 'own'), execute: (args: unknown) => (seen.push(args), 'own') };
  harness = await start(
    story({ lead: [{ calls: [call('bob', 'the task')] }, { text: 'done' }] }),
    { tools: ['subagent_bob'], handoff: { deniedTools: ['subagent_bob'], onDenied: 'fallback_to_primary' } },
    { tools: [own as Tool] },
  );
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({ status: 'completed' });
  expect(seen).toEqual([{ task: 'the task' }]);
  expect(results(requestsOf('lead')[1])).toEqual(['own']);
  expect(data(await eventsOf(), 'he')).toMatchObject([{ status: 'fallback', attempts: 0 }]);
});

test('contract 13: a fallback without an own tool of that name is a clear text, and the model goes on', async () => {
  harness = await start(story({ lead: [{ calls: [call('bob')] }, { text: 'without bob' }] }), {
    handoff: { allowedTools: ['subagent_alice'], onDenied: 'fallback_to_primary' },
  });
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({ status: 'completed', output: 'without bob' });
  const [text] = results(requestsOf('lead')[1]);
  expect(JSON.parse(text ?? '')).toMatchObject({
    errorType: 'handoff_denied',
    error: expect.stringMatching(/allowedTools does not name "subagent_bob".*no primary tool is available/),
    tool: 'subagent_bob',
  });
});

test('contract 14: one failure and one retry are two attempts and a success, without a model call of the lead between', async () => {
  let asked = 0;
  harness = await start(
    (request) => {
      if (askerOf(request) === 'lead')
        return request.messages.some(({ role }) => role === 'tool') ? { text: 'done' } : { calls: [call('bob')] };
      asked++;
      return asked === 1 ? { status: 400 } : { text: `answer ${asked}` };
    },
    { handoff: { maxRetries: 1 } },
  );
  const runId = await harness.ask('go');
  const events = await harness.until(({ event, runId: of }) => event === 'done' && of === runId);
  expect(data(events, 'he')).toMatchObject([{ status: 'completed', attempts: 2 }]);
  expect(data(events, 'am').filter(({ to }) => to === 'bob#1')).toHaveLength(2);
  expect(requestsOf('lead')).toHaveLength(2);
});

test('contract 14: after the last attempt the failure is a tool error with type, text, tool and call, and the run goes on', async () => {
  harness = await start(
    story({ lead: [{ calls: [call('bob')] }, { text: 'without bob' }], 'bob#1': [{ status: 400 }] }),
    { handoff: { maxRetries: 2 } },
  );
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'completed', output: 'without bob' });
  expect(requestsOf('bob#1')).toHaveLength(3);
  const callId = requestsOf('lead')[1]?.messages.find(({ tool_calls }) => tool_calls)?.tool_calls?.[0]?.id;
  expect(results(requestsOf('lead')[1]).map((text) => JSON.parse(text))).toEqual([
    { errorType: 'handoff_failed', error: expect.stringContaining('scripted failure'), tool: 'subagent_bob', callId },
  ]);
  expect(data(await eventsOf(), 'he')).toMatchObject([{ status: 'failed', attempts: 3 }]);
});

test('contract 15: an attempt that takes longer than its limit is stopped; the error names the tool and the limit', async () => {
  const never = latch();
  harness = await start(
    story({ lead: [{ calls: [call('bob')] }, { text: 'done' }], 'bob#1': [{ text: 'late', after: never.opened }] }),
    { handoff: { timeoutMs: 10 } },
  );
  await harness.settled(await harness.ask('go'));
  expect(results(requestsOf('lead')[1]).map((text) => JSON.parse(text))).toMatchObject([
    { errorType: 'handoff_timeout', error: 'The tool subagent_bob did not end within its limit of 10 ms.' },
  ]);
  await harness.until(({ event, agentId }) => event === 'ax' && agentId === 'bob#1');
  never.open();
});

test('contract 15: with a fallback the own tool answers for an attempt that took too long, and with a retry the next one', async () => {
  const never = latch();
  harness = await start(
    story({
      lead: [{ calls: [call('alice'), call('bob')] }, { text: 'done' }],
      'alice#1': [{ text: 'late', after: never.opened }],
      'bob#1': [{ text: 'late', after: never.opened }],
    }),
    {
      tools: ['subagent_alice'],
      subAgents: ['alice', { agent: 'bob', handoff: { maxRetries: 1 } }],
      handoff: { timeoutMs: 20, onError: 'fallback_to_primary' },
    },
    { tools: [fallbackTool('subagent_alice', () => 'the own tool says')] },
  );
  await harness.settled(await harness.ask('go'));
  const [own, late] = results(requestsOf('lead')[1]);
  expect(own).toBe('the own tool says');
  expect(late).toContain('limit of 20 ms');
  expect(data(await eventsOf(), 'he')).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ tool: 'subagent_bob', attempts: 2 })]),
  );
  never.open();
});

test('contract 16: the filter runs once, before the attempts, and may rewrite what is asked', async () => {
  let runs = 0;
  harness = await start(
    story({
      lead: [{ calls: [call('bob', 'use sk-abcdefghijklmnopqrstu')] }, { text: 'done' }],
      'bob#1': [{ status: 400 }],
    }),
    {
      handoff: {
        maxRetries: 1,
        inputFilter: ['redact-secrets', 'count', { 'append-context': { text: 'Write in English.' } }],
      },
    },
    { filters: { count: () => (runs++, undefined) } },
  );
  await harness.settled(await harness.ask('go'));
  expect(runs).toBe(1);
  expect(requestsOf('bob#1')).toHaveLength(2);
  for (const request of requestsOf('bob#1')) {
    expect(JSON.stringify(request.messages)).toContain('use [redacted]');
    expect(JSON.stringify(request.messages)).toContain('Write in English.');
  }
});

test('contract 16: a filter that throws is an execution error with an end event', async () => {
  harness = await start(
    story({ lead: [{ calls: [call('bob')] }, { text: 'done' }] }),
    { handoff: { inputFilter: 'broken' } },
    {
      filters: {
        broken: () => {
          throw new Error('the filter is out of order');
        },
      },
    },
  );
  await harness.settled(await harness.ask('go'));
  expect(results(requestsOf('lead')[1]).map((text) => JSON.parse(text))).toMatchObject([
    { errorType: 'handoff_failed', error: expect.stringContaining('the filter is out of order') },
  ]);
  expect(data(await eventsOf(), 'he')).toMatchObject([{ status: 'failed', attempts: 0 }]);
});

test('contract 17: a policy that is not enabled denies, filters and retries nothing; events and the limit hold', async () => {
  const never = latch();
  harness = await start(
    story({
      lead: [{ calls: [call('bob', 'sk-abcdefghijklmnopqrstu')] }, { text: 'done' }],
      'bob#1': [{ text: 'x', after: never.opened }],
    }),
    {
      handoff: {
        enabled: false,
        deniedTools: ['subagent_bob'],
        inputFilter: 'redact-secrets',
        maxRetries: 3,
        timeoutMs: 50,
      },
    },
  );
  await harness.settled(await harness.ask('go'));
  expect(JSON.stringify(requestsOf('bob#1')[0]?.messages)).toContain('sk-abcdefghijklmnopqrstu');
  expect(data(await eventsOf(), 'he')).toMatchObject([{ status: 'failed', attempts: 1 }]);
  expect(results(requestsOf('lead')[1])[0]).toContain('limit of 50 ms');
  never.open();
});

const nested = (bob: Partial<Boss> = {}) => ({
  agents: [{ id: 'bob', subAgents: ['leaf'], ...bob }, { id: 'leaf' }] as Boss[],
  session: { budgeted: 1 as const },
});

test('contract 18: at maxDepth 1 lead → child is allowed and child → leaf is denied; with `fail` the outermost run fails', async () => {
  harness = await start(
    story({ lead: [{ calls: [call('bob')] }], 'bob#1': [{ calls: [call('leaf')] }] }),
    {},
    { ...nested(), settings: { depthCap: 2 } },
  );
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'failed', reason: 'handoff_denied' });
  expect(run.output).toContain('denied subagent_leaf: depth 2 is more than maxDepth 1');
});

test('R20: with a cap, policies and a budget that allow it, a sub-agent calls its own roster one layer further', async () => {
  harness = await start(
    story({
      lead: [{ calls: [call('bob')] }, { text: 'done' }],
      'bob#1': [{ calls: [call('leaf')] }, { text: 'b' }, { text: 'report of bob' }],
      'bob#1/leaf#1': [{ text: 'l' }, { text: 'report of leaf' }],
    }),
    { handoff: { maxDepth: 2 } },
    { ...nested({ handoff: { maxDepth: 2 } }), settings: { depthCap: 2 } },
  );
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({ status: 'completed' });
  expect(results(requestsOf('bob#1')[1]).map((text) => JSON.parse(text))).toMatchObject([{ output: 'report of leaf' }]);
  expect(results(requestsOf('lead')[1]).map((text) => JSON.parse(text))).toMatchObject([{ output: 'report of bob' }]);
  const detail = await harness.reader.detail('default', harness.sessionId);
  expect(detail?.agents.filter(({ caller }) => caller)).toMatchObject([
    { id: 'bob#1', agent: 'bob', caller: 'lead', depth: 1 },
    { id: 'bob#1/leaf#1', agent: 'leaf', caller: 'bob#1', depth: 2 },
  ]);
});

test.each([
  ['the platform’s cap', { settings: { depthCap: 1 }, session: { budgeted: 1 as const } }],
  ['a missing budget', { settings: { depthCap: 2 }, session: { budgeted: 0 as const } }],
])('R20: %s keeps a sub-agent from calling anybody', async (_, more) => {
  harness = await start(
    story({ lead: [{ calls: [call('bob')] }, { text: 'done' }], 'bob#1': [{ text: 'b' }, { text: 'report' }] }),
    { handoff: { maxDepth: 2 } },
    { ...nested({ handoff: { maxDepth: 2 } }), ...more },
  );
  await harness.settled(await harness.ask('go'));
  const tools = requestsOf('bob#1')[0]?.tools?.map(({ function: { name } }) => name);
  expect(tools).toEqual(['send_message', 'current_time']);
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
