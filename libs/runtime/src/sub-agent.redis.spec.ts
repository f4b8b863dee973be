import type { Tool } from '@mailroom/capabilities';
import { LEAD, type SessionEvent } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { z } from 'zod';
import { latch } from './testing/latch';
import { askerOf, type ModelRequestBody } from './testing/model-server';
import { mailId, send, story, textOf, wait } from './testing/story';
import { type HarnessOptions, TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

const start = async (options: Omit<HarnessOptions, 'redis'>) => {
  harness = await TeamHarness.start({ redis, ...options });
};
const requestsOf = (agent: string) => harness.model.requests.filter((request) => askerOf(request) === agent);
const eventsOfRun = async (runId: string) => harness.until((event) => event.event === 'done' && event.runId === runId);
const results = (events: SessionEvent[]) => events.filter(({ event }) => event === 'ar').map(({ data }) => data);
const exits = (events: SessionEvent[]) =>
  events.filter(({ event }) => event === 'ax').map(({ agentId, data }) => [agentId, data.reason]);
const explode: Tool = {
  name: 'explode',
  description: 'always fails',
  parameters: z.object({}),
  idempotent: false,
  execute: () => {
    throw new Error('boom');
  },
};
const delegate = { calls: [send('alice', 'task', 'one'), wait] };
const end = { text: 'end' };

test('R10: an explicit result with no reference takes the only open task, and its agent makes no further call', async () => {
  await start({ answer: story({ lead: [delegate, end], alice: [{ calls: [send('lead', 'result', 'explicit')] }] }) });
  const events = await eventsOfRun(await harness.ask('go'));
  expect(results(events)).toMatchObject([{ from: 'alice', content: 'explicit', status: 'ok' }]);
  expect(requestsOf('alice')).toHaveLength(1);
  expect(exits(events)).toEqual([['alice', 'completed']]);
});

test('R9, R11: who asks the lead idles, leaves at the idle limit, and is loaded again with its memory by the answer', async () => {
  const held = latch();
  await start({
    answer: story({
      lead: [
        delegate,
        (request) => ({
          after: held.opened,
          calls: [send('alice', 'clarify_resp', 'Q2 only', mailId(request, 'alice', 'clarify')), wait],
        }),
        end,
      ],
      alice: [
        { calls: [{ name: 'current_time', args: {} }] },
        { calls: [send('lead', 'clarify', 'Q1 too?')] },
        (request) => ({
          text: `remembers ${request.messages.filter(({ role }) => role === 'tool').length} results, told: ${textOf(request).includes('Q2 only')}`,
        }),
      ],
    }),
    settings: { idleMs: 30 },
  });
  const runId = await harness.ask('go');
  const left = await harness.until(({ event, agentId }) => event === 'ax' && agentId === 'alice');
  expect(exits(left)).toEqual([['alice', 'idle_timeout']]);
  expect((await harness.reader.detail('default', harness.sessionId))?.openTasks).toHaveLength(1);
  held.open();
  const events = await eventsOfRun(runId);
  expect(results(events)).toMatchObject([{ content: 'remembers 2 results, told: true' }]);
  const loads = events
    .filter(({ event, agentId }) => event === 'as' && agentId === 'alice')
    .map(({ data }) => [data.reload, data.epoch]);
  expect(loads).toEqual([
    [false, 1],
    [true, 2],
  ]);
  expect(new Set(events.filter(({ event }) => event === 'as').map(({ data }) => data.host)).size).toBe(2);
});

test('R10: text of an agent whose question to the lead is open is kept as progress, and it waits', async () => {
  const held = latch();
  await start({
    answer: story({
      lead: [
        delegate,
        (request) => ({
          after: held.opened,
          calls: [send('alice', 'clarify_resp', 'yes', mailId(request, 'alice', 'clarify')), wait],
        }),
        end,
      ],
      alice: [
        { calls: [send('lead', 'clarify', 'may I?'), { name: 'current_time', args: {} }] },
        { text: 'so far' },
        { text: 'all of it' },
      ],
    }),
  });
  const runId = await harness.ask('go');
  await harness.until(({ event }) => event === 'ap');
  held.open();
  const events = await eventsOfRun(runId);
  const told = events
    .filter(({ event }) => event === 'ap' || event === 'ar')
    .map(({ event, data }) => [event, data.content]);
  expect(told).toEqual([
    ['ap', 'so far'],
    ['ar', 'all of it'],
  ]);
});

test('R10: a revision of a closed task opens a new one, and the reply to the old one closes it', async () => {
  await start({
    answer: story({
      lead: [
        delegate,
        (request) => ({ calls: [send('alice', 'revision', 'add risks', mailId(request, 'alice', 'result')), wait] }),
        end,
      ],
      alice: [
        { text: 'draft' },
        (request) => ({
          calls: [
            send('lead', 'result', `revised ${textOf(request).includes('draft')}`, mailId(request, 'lead', 'task')),
          ],
        }),
      ],
    }),
  });
  const events = await eventsOfRun(await harness.ask('go'));
  const revision = events.find(({ data }) => data.type === 'revision')?.data;
  expect(results(events).at(-1)).toMatchObject({ content: 'revised true', inReplyTo: revision?.msgId });
  expect(results(events)).toHaveLength(2);
});

test('R10: an empty final text is asked for once more; if still empty the last text before is a partial result', async () => {
  await start({
    answer: story({
      lead: [delegate, end],
      alice: [{ text: 'Found it: 06:30', calls: [{ name: 'current_time', args: {} }] }, { text: '' }, { text: ' ' }],
    }),
  });
  const [result] = results(await eventsOfRun(await harness.ask('go')));
  expect(result).toMatchObject({ status: 'partial' });
  expect(result?.content).toContain('06:30');
  expect(requestsOf('alice')).toHaveLength(3);
  expect(textOf(requestsOf('alice')[2] as ModelRequestBody)).toContain('Your last answer was empty');
});

test('R10: an agent that never says anything gives a partial result that claims no success', async () => {
  await start({ answer: story({ lead: [delegate, end], alice: [{ text: '' }, { text: '' }] }) });
  const [result] = results(await eventsOfRun(await harness.ask('go')));
  expect(result).toMatchObject({ status: 'partial', content: expect.stringContaining('without a result') });
});

test('R12: at the step limit one more step without tools asks for what was found, and the result is partial', async () => {
  await start({
    answer: (request) => {
      if (askerOf(request) === LEAD) return textOf(request).includes('queued') ? end : delegate;
      return request.tools ? { calls: [{ name: 'current_time', args: {} }] } : { text: 'so far: 3 of 5' };
    },
    agents: [{ id: 'alice', tools: ['current_time'], maxSteps: 3 }],
  });
  const events = await eventsOfRun(await harness.ask('go'));
  expect(results(events)).toMatchObject([{ status: 'partial', content: 'so far: 3 of 5' }]);
  expect(exits(events)).toEqual([['alice', 'max_steps']]);
  expect(requestsOf('alice')).toHaveLength(4);
  expect(textOf(requestsOf('alice')[3] as ModelRequestBody)).toContain('<engine>You have reached your step limit');
});

test('R12: endless politeness between two agents ends at their allowance of steps without a task', async () => {
  await start({
    answer: (request) => {
      if (askerOf(request) === LEAD)
        return textOf(request).includes('type="result"')
          ? end
          : textOf(request).includes('queued')
            ? { text: 'wait' }
            : delegate;
      const other = askerOf(request) === 'alice' ? 'bob' : 'alice';
      if (askerOf(request) === 'alice' && !textOf(request).includes('queued for lead'))
        return { calls: [send('bob', 'clarify', 'thank you!'), send('lead', 'result', 'done')] };
      return { calls: [send(other, 'clarify', 'thank YOU!'), wait] };
    },
    settings: { idleMs: 30 },
  });
  await harness.settled(await harness.ask('go'));
  await harness.allLeft();
  expect(requestsOf('bob').length).toBeLessThanOrEqual(4);
  expect(requestsOf('alice').length).toBeLessThanOrEqual(5);
});

test('R13: a failed model call is a result with status failed that names the error', async () => {
  await start({
    answer: story({
      lead: [delegate, (request) => ({ text: `saw ${/status="(\w+)"/.exec(textOf(request))?.[1]}` })],
      alice: [{ status: 400 }],
    }),
  });
  const events = await eventsOfRun(await harness.ask('go'));
  expect(results(events)).toMatchObject([{ status: 'failed', content: expect.stringContaining('scripted failure') }]);
  expect(exits(events)).toEqual([['alice', 'error']]);
  expect(events.at(-1)?.data.text).toBe('saw failed');
});

test('R13: a model that stays silent is a result with status timeout', async () => {
  const never = latch();
  await start({
    answer: story({ lead: [delegate, end], alice: [{ text: 'x', after: never.opened }] }),
    agents: [{ id: 'alice', modelSilenceMs: 100 }],
  });
  const events = await eventsOfRun(await harness.ask('go'));
  never.open();
  expect(results(events)).toMatchObject([{ status: 'timeout' }]);
});

test('a tool that does not exist, and one that fails, are told to the model, and the right call still runs', async () => {
  await start({
    answer: story({
      lead: [delegate, end],
      alice: [
        {
          calls: [
            { name: 'web_serch', args: {} },
            { name: 'explode', args: {} },
            { name: 'current_time', args: {} },
          ],
        },
        (request) => ({
          text: request.messages
            .filter(({ role }) => role === 'tool')
            .map(({ content }) => content?.slice(0, 40))
            .join(' | '),
        }),
      ],
    }),
    agents: [{ id: 'alice', tools: ['current_time', 'explode'] }],
    tools: [explode],
  });
  const [result] = results(await eventsOfRun(await harness.ask('go')));
  expect(result?.content).toMatch(/There is no tool "web_serch".* \| .*boom.* \| .*20\d\d/);
});

test('a peer question without a task is answered by plain text', async () => {
  await start({
    answer: story({
      lead: [delegate, end],
      alice: [
        { calls: [send('bob', 'clarify', 'what is 6 x 7?'), wait] },
        (request) => ({ text: `bob says ${/42/.exec(textOf(request))?.[0]}` }),
      ],
      bob: [{ text: '42' }],
    }),
  });
  const events = await eventsOfRun(await harness.ask('go'));
  expect(results(events)).toMatchObject([{ from: 'alice', content: 'bob says 42' }]);
});

test('R20: an agent with a team of its own works alone in another team: it gets names, no roster and no team prompt', async () => {
  await start({
    answer: story({
      lead: [delegate, end],
      alice: [{ calls: [send('helper', 'task', 'do it for me')] }, { text: 'alone' }],
    }),
    agents: [{ id: 'alice', subAgents: ['helper'], description: 'leads elsewhere' }, { id: 'helper' }],
  });
  const events = await eventsOfRun(await harness.ask('go'));
  expect(results(events)).toMatchObject([{ content: 'alone' }]);
  const [first, second] = requestsOf('alice');
  expect(first?.messages[0]?.content).not.toContain('You lead a team');
  expect(first?.messages[0]?.content).not.toContain('helper');
  const tool = first?.tools?.find(({ function: { name } }) => name === 'send_message')?.function.parameters.properties;
  expect(tool?.to?.enum).toEqual(['lead', 'bob']);
  expect(tool?.type?.enum).not.toContain('task');
  expect(textOf(second as ModelRequestBody)).toContain('nobody here is called "helper"');
});
