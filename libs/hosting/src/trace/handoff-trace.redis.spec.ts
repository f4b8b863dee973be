import type { SessionDetail, TraceSpan } from '@mailroom/contracts';
import { handoffTo, type ModelRequestBody, startHandoffTeam, story, type TeamHarness } from '@mailroom/runtime/testing';
import { SessionTrace } from './session-trace';

const REPORT = 'the report of bob, which is nobody’s business';
let team: TeamHarness;
afterEach(() => team.close());

const answer = (request: ModelRequestBody) => {
  const question = /type=\\"clarify\\" msgId=\\"(msg_[0-9a-f]{12})\\"/.exec(JSON.stringify(request.messages))?.[1];
  return { calls: [{ name: 'answer_question', args: { question, answer: 'the second' } }] };
};

test('a run by handoff: each call is a span with its agent below it, all have ended, and no word of them is told', async () => {
  team = await startHandoffTeam(
    story({
      lead: [{ calls: [handoffTo('alice'), handoffTo('bob')] }, answer, { text: 'done' }],
      'alice#1': [
        { calls: [{ name: 'send_message', args: { to: 'lead', type: 'clarify', content: 'which one?' } }] },
        { text: 'found' },
        { text: 'the report of alice' },
      ],
      'bob#1': [{ text: 'found' }, { text: REPORT }],
    }),
  );
  await team.settled(await team.ask('go'));
  await team.allLeft();
  const detail = (await team.reader.detail('default', team.sessionId)) as SessionDetail;
  const spans: TraceSpan[] = [];
  for await (const span of (await new SessionTrace(team.reader, team.feed).read('default', detail, false)).spans)
    spans.push(span);

  expect(spans.filter(({ status }) => status !== 'ok').map(({ id }) => id)).toEqual([]);
  expect(JSON.stringify(spans)).not.toContain('report of');
  const handoffs = spans.filter(({ kind }) => kind === 'handoff');
  expect(handoffs.map(({ name, attributes }) => [name, attributes.to, attributes.outcome])).toEqual([
    ['subagent_alice', 'alice#1', 'asked'],
    ['subagent_bob', 'bob#1', 'completed'],
    ['answer_question', 'alice#1', 'completed'],
  ]);
  const [alice, bob] = handoffs;
  expect(spans.find(({ id }) => id === 'activation:alice#1:1')?.parentId).toBe(alice?.id);
  expect(spans.find(({ id }) => id === 'activation:bob#1:1')?.parentId).toBe(bob?.id);
});
