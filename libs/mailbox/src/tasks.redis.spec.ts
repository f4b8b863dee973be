import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { BenchSession } from './testing/bench-session';
import type { LoadedAgent } from './testing/loaded-agent';

const redis = testRedis();
let session: BenchSession;
let lead: LoadedAgent;
beforeEach(async () => {
  session = await BenchSession.open({ redis, roster: ['alice', 'bob', 'carol'] });
  lead = await session.startRun();
});
afterEach(() => session.close());

const openTasks = async () => Object.keys(await session.records('tasks'));
const closedBy = async (id: string) => (await session.records('closed'))[id]?.split('|')[0];
const results = async () =>
  (await session.messages())
    .filter(({ type }) => type === 'result')
    .map(({ from, inReplyTo, status, late, content }) => ({ from, inReplyTo, status, late, content }));
/** Gives alice tasks and lets her read them. */
async function give(count = 1): Promise<{ alice: LoadedAgent; tasks: string[] }> {
  const tasks: string[] = [];
  for (let i = 0; i < count; i++) tasks.push((await lead.send('alice', 'task')).msgId);
  return { alice: await session.wake('alice'), tasks };
}

describe('R10: a result', () => {
  test('without a reference takes the only open task', async () => {
    const { alice, tasks } = await give();
    expect(await alice.send(LEAD, 'result')).toMatchObject({ code: 'ok' });
    expect(await results()).toMatchObject([{ from: 'alice', inReplyTo: tasks[0], status: 'ok' }]);
    expect(await openTasks()).toEqual([]);
  });

  test('without a reference is refused and names the open tasks when there are more', async () => {
    const { alice, tasks } = await give(2);
    expect(await alice.send(LEAD, 'result')).toMatchObject({ code: 'ambiguous_task', detail: tasks });
    expect(await results()).toEqual([]);
    expect((await session.events('ae')).map(({ data }) => data.code)).toEqual(['ambiguous_task']);
    expect(await session.agent('alice')).toMatchObject({ tail: 'model' });
  });

  test('is refused when no task is open, and when its task was reported before', async () => {
    const { alice, tasks } = await give();
    await alice.send(LEAD, 'result');
    expect(await alice.send(LEAD, 'result')).toMatchObject({ code: 'no_open_task' });
    expect(await alice.send(LEAD, 'result', tasks[0])).toMatchObject({ code: 'task_closed' });
    expect(await results()).toHaveLength(1);
  });

  test('finds its task along the reply chain', async () => {
    const { alice, tasks } = await give(2);
    const question = await alice.send(LEAD, 'clarify', tasks[1]);
    await lead.read();
    const answer = await lead.send('alice', 'clarify_resp', question.msgId);
    await alice.read();
    await alice.send(LEAD, 'result', answer.msgId);
    expect(await openTasks()).toEqual([tasks[0]]);
    expect(await results()).toMatchObject([{ inReplyTo: tasks[1] }]);
  });

  test('never takes a task that its sender has not read', async () => {
    const { alice, tasks } = await give();
    await alice.send(LEAD, 'result');
    await lead.send('alice', 'task');
    expect(await alice.send(LEAD, 'result')).toMatchObject({ code: 'no_open_task' });
    expect(await alice.send(LEAD, 'result', tasks[0])).toMatchObject({ code: 'task_closed' });
    expect(await openTasks()).toHaveLength(1);
  });

  test('cannot close the task of another agent, open or closed', async () => {
    const { tasks } = await give();
    await lead.send('bob', 'task');
    const bob = await session.wake('bob');
    expect(await bob.send(LEAD, 'result', tasks[0])).toMatchObject({ code: 'ambiguous_task' });
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    expect(await bob.send(LEAD, 'result', tasks[0])).toMatchObject({ code: 'ambiguous_task' });
    expect((await results()).filter(({ from }) => from === 'bob')).toEqual([]);
  });

  test('refers to a message of the session, or is refused', async () => {
    const { alice } = await give();
    expect(await alice.send(LEAD, 'result', 'msg_00000000dead')).toMatchObject({ code: 'unknown_reference' });
  });

  test('R17: of a task that the engine closed is kept as late, once, wakes nobody and is no terminal', async () => {
    const { tasks } = await give();
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    const wakes = (await session.agent(LEAD)).wake;
    const late = await session.send('alice', LEAD, 'result', { inReplyTo: tasks[0] ?? '' });
    expect(await results()).toMatchObject([{ status: 'cancelled' }, { inReplyTo: tasks[0], late: true }]);
    expect((await session.mail(LEAD)).at(-1)).toBe(`n${late.msgId}`);
    expect(await session.agent(LEAD)).toMatchObject({ wake: wakes });
    expect((await session.events('ar')).at(-1)?.data).toMatchObject({ late: true });
    await expect(session.send('alice', LEAD, 'result', { inReplyTo: tasks[0] ?? '' })).rejects.toThrow('task_closed');
  });

  test('withdraws the open questions of its sender, and a reply to one is refused', async () => {
    const { alice, tasks } = await give();
    const question = await alice.send(LEAD, 'clarify');
    await alice.send(LEAD, 'result', tasks[0]);
    await lead.read();
    expect(lead.inbox?.questions).toEqual([]);
    expect(await lead.send('alice', 'clarify_resp', question.msgId)).toMatchObject({ code: 'question_withdrawn' });
  });
});

describe('R10: the text of a step without tool calls', () => {
  test('is the result of every open task that was read, and of no other', async () => {
    const { alice, tasks } = await give(2);
    const unread = await lead.send('alice', 'task');
    await alice.say('found it');
    expect(await results()).toMatchObject(tasks.map((inReplyTo) => ({ inReplyTo, status: 'ok', content: 'found it' })));
    expect(await openTasks()).toEqual([unread.msgId]);
    expect(await session.agent('alice')).toMatchObject({ st: 'loaded', tail: 'idle', wake: '1' });
  });

  test('leaves a task open whose revision was not read yet', async () => {
    const { alice, tasks } = await give();
    await lead.send('alice', 'revision', tasks[0]);
    await alice.say('the old answer');
    expect(await results()).toEqual([]);
    await alice.read();
    await alice.say('the new answer');
    expect(await results()).toMatchObject([{ inReplyTo: tasks[0], content: 'the new answer' }]);
  });

  test('is progress while an own question to the lead is open, unless it is forced', async () => {
    const { alice, tasks } = await give();
    await alice.send(LEAD, 'clarify');
    await alice.say('so far');
    expect((await session.messages()).at(-1)).toMatchObject({
      type: 'progress',
      content: 'so far',
      inReplyTo: tasks[0],
    });
    expect(await session.agent('alice')).toMatchObject({ st: 'loaded', tail: 'idle' });
    await alice.say('at last', true);
    expect(await results()).toMatchObject([{ content: 'at last' }]);
  });

  test('answers the oldest question of a peer that was read when no task is open', async () => {
    const asked = [await session.send('bob', 'alice', 'clarify'), await session.send('carol', 'alice', 'clarify')];
    const alice = await session.wake('alice');
    await alice.say('like this');
    const replies = (await session.messages()).filter(({ type }) => type === 'clarify_resp');
    expect(replies).toMatchObject([
      { from: 'alice', to: 'bob', inReplyTo: asked[0]?.msgId, content: 'like this' },
      { from: 'alice', to: 'carol', inReplyTo: asked[1]?.msgId, content: expect.stringContaining('No answer came') },
    ]);
  });

  test('R5: with an explicit result before it there is still one result per task', async () => {
    const { alice, tasks } = await give(2);
    await alice.send(LEAD, 'result', tasks[0]);
    await alice.say('the other one');
    expect((await results()).map(({ inReplyTo }) => inReplyTo)).toEqual(tasks);
  });
});

describe('R10: a revision', () => {
  test('of an open task amends it and opens none', async () => {
    const { tasks } = await give();
    await lead.send('alice', 'revision', tasks[0]);
    await lead.send('alice', 'revision');
    expect(await openTasks()).toEqual(tasks);
  });

  test('of a closed task opens a new one, and replies to the old one lead to it', async () => {
    const { alice, tasks } = await give();
    const result = await alice.send(LEAD, 'result');
    const revision = await lead.send('alice', 'revision', result.msgId);
    expect(await openTasks()).toEqual([revision.msgId]);
    await alice.read();
    await alice.send(LEAD, 'result', tasks[0]);
    expect(await results()).toMatchObject([{ inReplyTo: tasks[0] }, { inReplyTo: revision.msgId }]);
    expect(await closedBy(revision.msgId)).toBe('agent');
  });

  test('keeps to its chain after a late result', async () => {
    const { alice, tasks } = await give();
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    const second = await lead.send('alice', 'revision', tasks[0]);
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    await session.send('alice', LEAD, 'result', { inReplyTo: second.msgId });
    const third = await lead.send('alice', 'revision', second.msgId);
    await alice.read();
    expect(await alice.send(LEAD, 'result', tasks[0])).toMatchObject({ code: 'ok' });
    expect((await results()).at(-1)).toMatchObject({ inReplyTo: third.msgId });
  });

  test('without a reference is refused when several tasks are open', async () => {
    const { tasks } = await give(2);
    expect(await lead.send('alice', 'revision')).toMatchObject({ code: 'ambiguous_task', detail: tasks });
  });
});

describe('R10: questions', () => {
  test.each(['task', 'revision', 'clarify_resp'])(
    'a %s of the asked agent closes all earlier ones to it',
    async (type) => {
      const { alice, tasks } = await give();
      await alice.send(LEAD, 'clarify');
      await alice.send(LEAD, 'clarify');
      const other = await alice.send('bob', 'clarify');
      await lead.send('alice', type, type === 'revision' ? tasks[0] : undefined);
      expect(Object.keys(await session.records('questions'))).toEqual([other.msgId]);
    },
  );

  test('an answer without a reference is about the oldest open one', async () => {
    const { alice, tasks } = await give(2);
    const first = await alice.send(LEAD, 'clarify', tasks[0]);
    await alice.send(LEAD, 'clarify', tasks[1]);
    await lead.send('alice', 'clarify_resp');
    expect((await session.messages()).at(-1)).toMatchObject({ inReplyTo: first.msgId });
  });

  test('an answer that refers to a task is about the question on that task', async () => {
    const { alice, tasks } = await give(2);
    await alice.send(LEAD, 'clarify', tasks[0]);
    const second = await alice.send(LEAD, 'clarify', tasks[1]);
    await lead.send('alice', 'clarify_resp', tasks[1]);
    expect((await session.messages()).at(-1)).toMatchObject({ inReplyTo: second.msgId });
  });

  test('who leaves with some unanswered gets one answer sent for each peer', async () => {
    await session.send('bob', 'alice', 'clarify');
    await session.send('bob', 'alice', 'clarify');
    await session.send('carol', 'alice', 'clarify');
    const alice = await session.wake('alice');
    await alice.park();
    const replies = (await session.messages()).filter(({ type }) => type === 'clarify_resp');
    expect(replies.map(({ to }) => to)).toEqual(['bob', 'carol']);
    expect(await session.records('questions')).toEqual({});
    expect(await session.agent('alice')).toMatchObject({ st: 'unloaded' });
  });
});
