import { join } from 'node:path';
import { SCRIPTED_NOTICE, type ScriptedModel, startScriptedModel } from '.';
import { ChatAgent, newMsgId, toolsFor } from './testing/chat-agent';
import { TeamPlay } from './testing/team-play';

const TEAM = ['alice', 'bob', 'reporter'];
const TOOLS = ['lookup', 'calculate', 'current_time'];
const REQUEST = 'Make a Q2 competitive analysis report';

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

const lead = () => new ChatAgent(model.baseUrl, 'lead', toolsFor(TEAM));
const subAgent = (name: string) => {
  const peers = ['lead', ...TEAM.filter((peer) => peer !== name)];
  return new ChatAgent(model.baseUrl, name, toolsFor(peers, TOOLS));
};

describe('the lead of the Q2 story', () => {
  test('plays from the request to the report', async () => {
    const agent = lead();
    agent.hear({ from: 'user', type: 'task', content: REQUEST });

    const first = await agent.step({ facts: '' });
    expect(first.calls).toMatchObject([{ name: 'send_message', args: { to: 'alice', type: 'task' } }]);
    const [toAlice = ''] = first.sentIds;
    const second = await agent.step({ facts: `open: ${toAlice} alice` });
    expect(second.calls).toMatchObject([
      { name: 'send_message', args: { to: 'bob', type: 'task' } },
      { name: 'wait_for_messages' },
    ]);
    const [toBob = ''] = second.sentIds;

    const clarify = newMsgId();
    agent.hear(
      { from: 'alice', type: 'clarify', content: 'Q2 only, or including Q1?', msgId: clarify, inReplyTo: toAlice },
      { from: 'bob', type: 'result', status: 'ok', content: 'news of bob', inReplyTo: toBob },
    );
    const third = await agent.step({ facts: `open: ${toAlice} alice` });
    expect(third.calls).toMatchObject([
      { args: { to: 'alice', type: 'clarify_resp', content: 'Q2 only, without Q1.', inReplyTo: clarify } },
      { name: 'wait_for_messages' },
    ]);

    agent.hear({ from: 'alice', type: 'result', status: 'ok', content: 'trends of alice', inReplyTo: toAlice });
    const fourth = await agent.step({ facts: '' });
    expect(fourth.calls[0]).toMatchObject({ args: { to: 'reporter', type: 'task' } });
    expect(fourth.calls[0]?.args.context).toMatch(/trends of alice[\s\S]*news of bob/);

    const draft = newMsgId();
    const [toReporter = ''] = fourth.sentIds;
    agent.hear({
      from: 'reporter',
      type: 'result',
      status: 'ok',
      content: 'draft',
      msgId: draft,
      inReplyTo: toReporter,
    });
    const fifth = await agent.step({ facts: '' });
    expect(fifth.calls[0]?.args).toMatchObject({ to: 'reporter', type: 'revision', inReplyTo: draft });

    const [revision = ''] = fifth.sentIds;
    agent.hear({ from: 'reporter', type: 'result', status: 'ok', content: 'draft with risks', inReplyTo: revision });
    const last = await agent.step({ facts: '' });
    expect(last.calls).toEqual([]);
    expect(last.content).toContain('draft with risks');
    expect(last.content.endsWith(SCRIPTED_NOTICE)).toBe(true);
  });

  test('waits while only one of two results is there', async () => {
    const agent = lead();
    agent.hear({ from: 'user', type: 'task', content: REQUEST });
    const [toAlice = ''] = (await agent.step({ facts: '' })).sentIds;
    const [toBob = ''] = (await agent.step({ facts: toAlice })).sentIds;
    agent.hear({ from: 'bob', type: 'result', status: 'ok', content: 'news', inReplyTo: toBob });
    expect((await agent.step({ facts: toAlice })).calls).toEqual([{ name: 'wait_for_messages', args: {} }]);
  });

  test('names a reporter that failed instead of asking it for a revision', async () => {
    const agent = lead();
    agent.hear({ from: 'user', type: 'task', content: REQUEST });
    const [toAlice = ''] = (await agent.step({ facts: '' })).sentIds;
    const [toBob = ''] = (await agent.step({ facts: toAlice })).sentIds;
    agent.hear(
      { from: 'alice', type: 'result', status: 'ok', content: 'trends', inReplyTo: toAlice },
      { from: 'bob', type: 'result', status: 'partial', content: 'some news', inReplyTo: toBob },
    );
    const [toReporter = ''] = (await agent.step({ facts: '' })).sentIds;
    agent.hear({ from: 'reporter', type: 'result', status: 'failed', content: 'no model', inReplyTo: toReporter });
    const last = await agent.step({ facts: '' });
    expect(last.calls).toEqual([]);
    expect(last.content).toContain('## reporter (failed)\n\nno model');
    expect(last.content).toContain('## bob (partial)\n\nsome news');
  });
});

describe('the sub-agents of the Q2 story', () => {
  test('alice looks up, asks, computes and reports three trends', async () => {
    model.release('both-at-work');
    const agent = subAgent('alice');
    const task = newMsgId();
    agent.hear({ from: 'lead', type: 'task', content: 'Analyse the industry data of Q2', msgId: task });
    expect((await agent.step()).calls).toMatchObject([{ name: 'lookup' }]);
    const asked = await agent.step();
    expect(asked.calls).toMatchObject([{ args: { to: 'lead', type: 'clarify', inReplyTo: task } }]);
    expect((await agent.step()).calls).toMatchObject([{ name: 'wait_for_messages' }]);

    agent.hear({ from: 'lead', type: 'clarify_resp', content: 'Q2 only.', inReplyTo: asked.sentIds[0] ?? '' });
    expect((await agent.step()).calls).toMatchObject([
      { name: 'calculate' },
      { args: { to: 'lead', type: 'progress', inReplyTo: task } },
    ]);
    const report = await agent.step();
    expect(report.calls).toEqual([]);
    expect(report.content).toMatch(/range as confirmed: Q2 only\.[\s\S]*1\.[\s\S]*2\.[\s\S]*3\./);
  });

  test('the reporter revises the draft that is in its memory', async () => {
    const agent = subAgent('reporter');
    agent.hear({ from: 'lead', type: 'task', content: 'Write the Q2 report', context: 'a very special finding' });
    await agent.step();
    agent.hear({ from: 'lead', type: 'revision', content: 'Add a risk section' });
    const revised = await agent.step();
    expect(revised.content).toMatch(/a very special finding[\s\S]*## Risks/);
    expect(revised.content.split(SCRIPTED_NOTICE)).toHaveLength(2);
  });

  test('a reporter without memory says that its draft is lost', async () => {
    const agent = subAgent('reporter');
    agent.hear({ from: 'lead', type: 'revision', content: 'Add a risk section to the Q2 report' });
    expect((await agent.step()).content).toContain('there is no earlier draft');
  });
});

describe('the whole Q2 story', () => {
  test('ends with the revised report, alice and bob working at the same time', async () => {
    const play = new TeamPlay(model.baseUrl, TEAM, TOOLS);
    const report = await play.run('帮我做一份 Q2 竞品分析报告');
    expect(report).toMatch(/Three key trends[\s\S]*News of the competitors[\s\S]*## Risks/);
    expect(report.split(SCRIPTED_NOTICE)).toHaveLength(2);
    expect(model.stats().barriers['both-at-work']).toMatchObject({ filled: 1, timedOut: 0 });
    expect(play.story().slice(0, 3)).toEqual(['user > lead: task', 'lead > alice: task', 'lead > bob: task']);
    expect(play.story().slice(-4)).toEqual([
      'lead > reporter: task',
      'reporter > lead: result',
      'lead > reporter: revision',
      'reporter > lead: result',
    ]);
    expect([...play.story()].sort()).toEqual(
      [
        'user > lead: task',
        'lead > alice: task',
        'lead > bob: task',
        'alice > lead: clarify',
        'lead > alice: clarify_resp',
        'alice > lead: progress',
        'alice > lead: result',
        'bob > lead: result',
        'lead > reporter: task',
        'reporter > lead: result',
        'lead > reporter: revision',
        'reporter > lead: result',
      ].sort(),
    );
  });

  test('a second request in the same session plays a new round', async () => {
    const play = new TeamPlay(model.baseUrl, TEAM, TOOLS);
    await play.run(REQUEST);
    const first = play.ledger.length;
    expect(await play.run('And now the Q2 report once more')).toContain('## Risks');
    expect(play.ledger.length).toBe(first * 2);
    expect(await play.run('Say hello to everybody')).toContain('## reporter');
  });

  test('held-answer.yaml keeps the answer back until it is released', async () => {
    const held = await startScriptedModel({ rulesFile: join(__dirname, '..', 'rules', 'held-answer.yaml') });
    try {
      const play = new TeamPlay(held.baseUrl, TEAM, TOOLS);
      const report = play.run(REQUEST);
      await held.held('answer');
      expect(play.story()).not.toContain('lead > alice: clarify_resp');
      await fetch(`${held.url}/barriers/answer/release`, { method: 'POST' });
      expect(await report).toContain('## Risks');
    } finally {
      await held.close();
    }
  });
});
