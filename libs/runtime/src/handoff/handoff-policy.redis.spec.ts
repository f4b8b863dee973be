import type { Tool } from '@mailroom/capabilities';
import { z } from 'zod';
import { handoffTo as call, dataOf as data, resultsIn as results, startHandoffTeam as start } from '../testing/handoff';
import { latch } from '../testing/latch';
import { askerOf } from '../testing/model-server';
import { story } from '../testing/story';
import type { HarnessOptions, TeamHarness } from '../testing/team-harness';

type Boss = NonNullable<HarnessOptions['agents']>[number];
let harness: TeamHarness;
afterEach(() => harness.close());

const requestsOf = (name: string) => harness.model.requests.filter((request) => askerOf(request) === name);
const eventsOf = () => harness.feed.read(harness.sessionId, '');
const fallbackTool = (name: string, run: () => string): Tool => ({
  name,
  description: 'the own tool of the lead',
  parameters: z.object({ task: z.string() }).partial(),
  idempotent: false,
  execute: run,
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
  const own = { ...fallbackTool('subagent_bob', () => 'own'), execute: (args: unknown) => `own ${seen.push(args)}` };
  harness = await start(
    story({ lead: [{ calls: [call('bob', 'the task')] }, { text: 'done' }] }),
    { tools: ['subagent_bob'], handoff: { deniedTools: ['subagent_bob'], onDenied: 'fallback_to_primary' } },
    { tools: [own as Tool] },
  );
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({ status: 'completed' });
  expect(seen).toEqual([{ task: 'the task' }]);
  expect(results(requestsOf('lead')[1])).toEqual(['own 1']);
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
    {
      filters: {
        count: () => {
          runs++;
          return undefined;
        },
      },
    },
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

test('contract 18: a denial further down ends one run, not the next one', async () => {
  harness = await start(
    story({
      lead: [{ calls: [call('bob')] }, { text: 'the next run' }],
      'bob#1': [{ calls: [call('leaf')] }],
    }),
    {},
    { ...nested(), settings: { depthCap: 2 } },
  );
  expect(await harness.settled(await harness.ask('go'))).toMatchObject({ reason: 'handoff_denied' });
  expect(await harness.settled(await harness.ask('again'))).toMatchObject({
    status: 'completed',
    output: 'the next run',
  });
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
