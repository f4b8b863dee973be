import { type ScriptedModel, startScriptedModel } from '.';
import { ChatAgent, newMsgId, toolsFor } from './testing/chat-agent';
import { TeamPlay } from './testing/team-play';

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});
afterAll(() => model.close());

const EIGHT = ['ann', 'ben', 'cleo', 'dan', 'eve', 'finn', 'gus', '小红'];

test('a team of eight: everybody gets a part, uses a tool, and is named in the answer', async () => {
  const play = new TeamPlay(model.baseUrl, EIGHT, ['lookup']);
  const answer = await play.run('Plan a summer party');
  for (const name of EIGHT) expect(answer).toMatch(new RegExp(`## ${name}\n\n[^#]*lookup said:\nlookup result`));
  expect(play.story()).toHaveLength(1 + 8 + 8);
});

test('the lead waits until every result is there, and marks what failed or was not reached', async () => {
  const agent = new ChatAgent(model.baseUrl, 'lead', toolsFor(['ann', 'ben', 'cleo']));
  agent.hear({ from: 'user', type: 'task', content: 'Plan a party' });
  const asked = await agent.ask({ facts: '' });
  const [toAnn, toBen] = [newMsgId(), newMsgId()];
  const replies = [`queued for ann as ${toAnn}`, `queued for ben as ${toBen}`, 'error: cleo is not active', 'waiting'];
  for (const [index, call] of asked.raw.entries()) agent.tool(call.id, replies[index] ?? '');
  agent.hear({ from: 'ann', type: 'result', status: 'ok', content: 'a cake', inReplyTo: toAnn });
  expect((await agent.step({ facts: toBen })).calls).toMatchObject([{ name: 'wait_for_messages' }]);
  agent.hear({ from: 'ben', type: 'result', status: 'timeout', content: 'half a song', inReplyTo: toBen });
  const { content } = await agent.step({ facts: '' });
  expect(content).toContain('## ann\n\na cake');
  expect(content).toContain('## ben (timeout)\n\nhalf a song');
  expect(content).toContain('## cleo (not reached)\n\nerror: cleo is not active');
});

test('the lead answers each open question once, with an assumption', async () => {
  const agent = new ChatAgent(model.baseUrl, 'lead', toolsFor(['ann', 'ben']));
  agent.hear({ from: 'user', type: 'task', content: 'Plan a party' });
  const open = (await agent.step({ facts: '' })).sentIds.join(' ');
  const [ofAnn, ofBen] = [newMsgId(), newMsgId()];
  agent.hear(
    { from: 'ann', type: 'clarify', content: 'Inside?', msgId: ofAnn },
    { from: 'ben', type: 'clarify', content: 'When?', msgId: ofBen },
  );
  const { calls } = await agent.step({ facts: open });
  expect(calls).toMatchObject([
    { args: { to: 'ann', type: 'clarify_resp', inReplyTo: ofAnn } },
    { args: { to: 'ben', type: 'clarify_resp', inReplyTo: ofBen } },
    { name: 'wait_for_messages' },
  ]);
  expect(calls[0]?.args.content).toMatch(/Assume/);
  expect((await agent.step({ facts: open })).calls).toMatchObject([{ name: 'wait_for_messages' }]);
});

test('a cancelled run leaves nothing to the next one', async () => {
  const agent = new ChatAgent(model.baseUrl, 'lead', toolsFor(['ann']));
  agent.hear({ from: 'user', type: 'task', content: 'Plan a party' });
  await agent.step({ facts: '' });
  agent.hear({ from: 'user', type: 'task', content: 'Plan a funeral' });
  const { calls } = await agent.step({ facts: 'no open tasks' });
  expect(calls[0]?.args).toMatchObject({ to: 'ann', type: 'task' });
  expect(calls[0]?.args.content).toContain('Plan a funeral');
  expect(calls[0]?.args.content).not.toContain('party');
});

test('what the user adds while tasks are open belongs to the same round', async () => {
  const agent = new ChatAgent(model.baseUrl, 'lead', toolsFor(['ann']));
  agent.hear({ from: 'user', type: 'task', content: 'Plan a party' });
  const [task = ''] = (await agent.step({ facts: '' })).sentIds;
  agent.hear({ from: 'user', type: 'task', content: 'With music' });
  expect((await agent.step({ facts: task })).calls).toMatchObject([{ name: 'wait_for_messages' }]);
  agent.hear({ from: 'ann', type: 'result', status: 'ok', content: 'a plan', inReplyTo: task });
  expect((await agent.step({ facts: '' })).content).toMatch(/Plan a party With music[\s\S]*a plan/);
});

test.each([
  ['What is 12.5 * (3) or 7 + 5?', 'calculate', { expression: '7 + 5' }],
  ['What time is it?', 'current_time', {}],
  ['Who is Ada?', 'lookup', { query: 'Who is Ada?' }],
])('a lead without a team answers "%s" with the tool %s', async (content, tool, args) => {
  const agent = new ChatAgent(model.baseUrl, 'lead', toolsFor([], ['calculate', 'current_time', 'lookup']));
  agent.hear({ from: 'user', type: 'task', content });
  expect((await agent.step({ facts: '' })).calls).toEqual([{ name: tool, args }]);
  expect((await agent.step({ facts: '' })).content).toContain(`${tool} result`);
});

test('a sub-agent uses one tool per task, and again for the next task', async () => {
  const agent = new ChatAgent(model.baseUrl, 'ann', toolsFor(['lead'], ['current_time']));
  for (const content of ['Bake a cake', 'Bake another']) {
    agent.hear({ from: 'lead', type: 'task', content });
    expect((await agent.step()).calls).toEqual([{ name: 'current_time', args: {} }]);
    const report = await agent.step();
    expect(report.calls).toEqual([]);
    expect(report.content).toContain(`"${content}"`);
  }
});

test('a sub-agent answers a peer: at work it goes on, with no task it waits', async () => {
  const agent = new ChatAgent(model.baseUrl, 'ann', toolsFor(['lead', 'ben'], ['lookup']));
  agent.hear({ from: 'ben', type: 'clarify', content: 'How many guests?', msgId: 'msg_00000000000a' });
  expect((await agent.step()).calls).toMatchObject([
    { args: { to: 'ben', type: 'clarify_resp', inReplyTo: 'msg_00000000000a' } },
    { name: 'wait_for_messages' },
  ]);
  agent.hear({ from: 'lead', type: 'task', content: 'Bake' }, { from: 'ben', type: 'clarify', content: 'And now?' });
  expect((await agent.step()).calls).toMatchObject([{ args: { to: 'ben', type: 'clarify_resp' } }]);
  expect((await agent.step()).calls).toMatchObject([{ name: 'lookup' }]);
});

test('an engine request and a request without tools get text', async () => {
  const agent = new ChatAgent(model.baseUrl, 'ann', toolsFor(['lead'], ['lookup']));
  agent.hear({ from: 'lead', type: 'task', content: 'Bake a cake' });
  await agent.step();
  agent.engine('The step limit is reached. Write down everything found so far.');
  for (const answer of [await agent.step(), await agent.step({ tools: [] })]) {
    expect(answer.calls).toEqual([]);
    expect(answer.content).toContain('lookup result');
  }
});

test('an engine sentence before a new task is no request', async () => {
  const agent = new ChatAgent(model.baseUrl, 'ann', toolsFor(['lead'], ['lookup']));
  agent.engine('A step could not be made, and the work on it was ended.');
  agent.hear({ from: 'lead', type: 'task', content: 'Bake a cake' });
  expect((await agent.step()).calls).toMatchObject([{ name: 'lookup' }]);
});

test('a plain chat, without an agent session, is answered', async () => {
  const response = await fetch(`${model.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'gpt', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }] }),
  });
  expect(await response.text()).toContain('On \\"Hello\\"');
});
