import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { askerOf, type ModelRequestBody, type ScriptedAnswer } from './testing/model-server';
import { TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

const text = (request: ModelRequestBody) => request.messages.map((message) => message.content ?? '').join('\n');
const hasResults = (request: ModelRequestBody, count: number) =>
  (text(request).match(/type="result"/g) ?? []).length >= count;
const send = (to: string, type: string, content: string, inReplyTo?: string) => ({
  name: 'send_message',
  args: { to, type, content, inReplyTo },
});
const wait = { name: 'wait_for_messages', args: {} };

/** A lead that gives everybody a task and joins the results. */
function plainTeam(request: ModelRequestBody): ScriptedAnswer {
  if (askerOf(request) !== LEAD) return { text: `finding of ${askerOf(request)}` };
  if (!text(request).includes('queued for'))
    return { calls: [send('alice', 'task', 'part one'), send('bob', 'task', 'part two'), wait] };
  return hasResults(request, 2) ? { text: 'the report' } : { text: 'still waiting' };
}

test('R9, R14: a lead delegates, parks without a model call, and answers when all results are there', async () => {
  harness = await TeamHarness.start({ redis, answer: plainTeam, session: { windowMs: 60_000 } });
  const run = await harness.settled(await harness.ask('a report please'));
  expect(run).toMatchObject({ status: 'completed', output: 'the report', usage: { calls: 4 } });
  expect(harness.model.requests.map(askerOf).filter((asker) => asker === LEAD)).toHaveLength(2);
});

test('R5, R11: each task gets one result from the final text, and its agent leaves at once as completed', async () => {
  harness = await TeamHarness.start({ redis, answer: plainTeam });
  const runId = await harness.ask('a report please');
  const events = await harness.until((event) => event.event === 'done' && event.runId === runId);
  const tasks = events.filter(({ event, data }) => event === 'am' && data.type === 'task' && data.from === LEAD);
  const results = events.filter(({ event }) => event === 'ar');
  expect(results.map(({ data }) => data.inReplyTo).sort()).toEqual(tasks.map(({ data }) => data.msgId).sort());
  expect(results.map(({ data }) => [data.content, data.status]).sort()).toEqual([
    ['finding of alice', 'ok'],
    ['finding of bob', 'ok'],
  ]);
  expect(events.filter(({ event }) => event === 'ax').map(({ data }) => data.reason)).toEqual([
    'completed',
    'completed',
  ]);
});
