import { type ScriptedModel, startScriptedModel } from '.';
import { ChatAgent, newMsgId } from './testing/chat-agent';

const REQUEST = 'Make a Q2 competitive analysis report';
const CALLED = 'You were called by "lead" for the task in your inbox.\n';
const NOW = 'Your work on this task ends here. Write your report now: the answer first.';

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

const offered = (names: readonly string[]) =>
  names.map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }));
const lead = (team: readonly string[]) =>
  new ChatAgent(
    model.baseUrl,
    'lead',
    offered([...team.map((name) => `subagent_${name}`), 'answer_question']),
    team.map((name) => `- ${name}: tool subagent_${name}\n`).join(''),
  );
const called = (name: string, tools: string[] = ['send_message', 'lookup']) =>
  new ChatAgent(model.baseUrl, name, offered(tools), CALLED);
const report = (subagent: string, output: string) =>
  JSON.stringify({ subagent, toolName: `subagent_${subagent}`, output, steps: 2 });
const question = (from: string, msgId: string) =>
  `${from} cannot go on without an answer.\n<message from="${from}" type="clarify" msgId="${msgId}">\nQ1 too?\n</message>`;

test('the lead of the Q2 story calls two at once, answers a question, and has the report revised by a second call', async () => {
  const agent = lead(['alice', 'bob', 'reporter']);
  agent.hear({ from: 'user', type: 'task', content: REQUEST });
  const first = await agent.ask({ facts: 'Open tasks: none.' });
  expect(first.calls.map(({ name }) => name)).toEqual(['subagent_alice', 'subagent_bob']);

  const asked = newMsgId();
  agent.tool(first.raw[0]?.id ?? '', question('alice#1', asked));
  agent.tool(first.raw[1]?.id ?? '', report('bob#1', 'news of bob'));
  const second = await agent.ask({ facts: 'Open tasks: none.' });
  expect(second.calls).toEqual([
    { name: 'answer_question', args: { question: asked, answer: 'Q2 only, without Q1.' } },
  ]);

  agent.tool(second.raw[0]?.id ?? '', report('alice#1', 'trends of alice'));
  const third = await agent.ask({ facts: 'Open tasks: none.' });
  expect(third.calls).toMatchObject([{ name: 'subagent_reporter' }]);
  expect(third.calls[0]?.args.context).toMatch(/alice \(ok\):\ntrends of alice[\s\S]*news of bob/);

  agent.tool(third.raw[0]?.id ?? '', report('reporter', 'draft'));
  const fourth = await agent.ask({ facts: 'Open tasks: none.' });
  expect(fourth.calls).toMatchObject([{ name: 'subagent_reporter', args: { task: expect.stringContaining('risk') } }]);

  agent.tool(fourth.raw[0]?.id ?? '', report('reporter', 'draft with risks'));
  const last = await agent.ask({ facts: 'Open tasks: none.' });
  expect(last.calls).toEqual([]);
  expect(last.content).toContain('draft with risks');
});

test('bob says what he found, and repeats it as his report when the engine asks for it', async () => {
  model.release('both-at-work');
  const bob = called('bob#1');
  bob.hear({ from: 'lead', type: 'task', content: 'Search the latest Q2 news' });
  expect((await bob.step()).calls).toMatchObject([{ name: 'lookup' }]);
  const finding = await bob.step();
  expect(finding.calls).toEqual([]);
  bob.engine(NOW);
  expect((await bob.step({ tools: [] })).content).toBe(finding.content);
});

test('a colleague whose work failed says so in its report', async () => {
  const ann = called('ann#1');
  ann.hear({ from: 'lead', type: 'task', content: 'Bake a cake' });
  await ann.step();
  ann.engine('Your work on this task has failed: its step limit is reached. Write your report now.');
  const { content } = await ann.step({ tools: [] });
  expect(content).toMatch(/^The task was not finished\.[\s\S]*lookup result/);
});

test('a call of a colleague is also a tool that was used, with the text that came back', async () => {
  const rules = [{ name: 'again', when: { has: [{ used: 'subagent_ann', text: 'Not begun' }] }, say: 'once more' }];
  const strict = await startScriptedModel({ rules });
  try {
    const tool = { id: 'c1', function: { name: 'subagent_ann', arguments: '{"task": "x"}' } };
    const agent = new ChatAgent(strict.baseUrl, 'lead', offered(['subagent_ann']), '- ann: tool subagent_ann\n');
    agent.messages.push({ role: 'assistant', content: null, tool_calls: [tool] });
    agent.tool('c1', 'Not begun: ann asks first.');
    expect((await agent.ask()).content).toContain('once more');
  } finally {
    await strict.close();
  }
});

test('any other lead calls each member once, answers what they ask, and joins reports and failures', async () => {
  const agent = lead(['ann', 'ben', 'hong']);
  agent.hear({ from: 'user', type: 'task', content: 'Plan a party' });
  const { raw, calls } = await agent.ask({ facts: 'Open tasks: none.' });
  expect(calls.map(({ name }) => name)).toEqual(['subagent_ann', 'subagent_ben', 'subagent_hong']);
  agent.tool(raw[0]?.id ?? '', question('ann#1', 'msg_00000000000a'));
  agent.tool(raw[1]?.id ?? '', JSON.stringify({ errorType: 'handoff_timeout', error: 'too slow', tool: 'x' }));
  agent.tool(raw[2]?.id ?? '', report('hong#1', 'a song'));
  const second = await agent.ask({ facts: 'Open tasks: none.' });
  expect(second.calls).toMatchObject([{ name: 'answer_question', args: { question: 'msg_00000000000a' } }]);
  agent.tool(second.raw[0]?.id ?? '', report('ann#1', 'a cake'));
  const { content } = await agent.ask({ facts: 'Open tasks: none.' });
  expect(content).toContain('## ann\n\na cake');
  expect(content).toContain('## ben (handoff_timeout)\n\ntoo slow');
  expect(content).toContain('## hong\n\na song');
});
