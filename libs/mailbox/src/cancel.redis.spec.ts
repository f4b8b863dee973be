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

const results = async () =>
  (await session.messages())
    .filter(({ type }) => type === 'result')
    .map(({ from, inReplyTo, status }) => ({ from, inReplyTo, status }));

describe('R19: cancelling a run', () => {
  test('closes every open tool call and task, ends the run, and causes no model call', async () => {
    const [one, two] = [await lead.send('alice', 'task'), await lead.send('bob', 'task')];
    const alice = await session.wake('alice');
    await alice.step({ open: ['t1', 't2'] });
    await lead.step({ open: ['t3'] });
    const runId = lead.inbox?.runId;
    expect(await session.mailbox.cancelRun(session.id, 'enough')).toBe(runId);
    expect(await results()).toEqual([
      { from: 'alice', inReplyTo: one.msgId, status: 'cancelled' },
      { from: 'bob', inReplyTo: two.msgId, status: 'cancelled' },
    ]);
    expect(await session.run(runId ?? '')).toMatchObject({ status: 'cancelled', reason: 'enough' });
    expect((await session.events('done')).map(({ data }) => data)).toEqual([
      { status: 'cancelled', reason: 'enough', text: '' },
    ]);
    const closed = (await session.journal('alice')).flatMap((entry) => (entry.kind === 'tool' ? [entry.callId] : []));
    expect(closed).toEqual(['t1', 't2']);
    expect((await session.journal(LEAD)).filter(({ kind }) => kind === 'tool')).toHaveLength(1);
    for (const loaded of [alice, lead])
      expect(await loaded.read()).toMatchObject({ tail: 'idle', work: false, openCalls: [] });
    expect(alice.inbox?.leave).toBe('cancelled');
    expect(await session.session()).toMatchObject({ calls: '2', run: '', cancel: '1' });
  });

  test('takes back activations that were not claimed, and journals unread mail', async () => {
    const task = await lead.send('alice', 'task');
    const epoch = (await session.agent('alice')).epoch;
    await session.mailbox.cancelRun(session.id, 'enough');
    expect(await session.agent('alice')).toMatchObject({ st: 'unloaded', wake: '0' });
    expect(await session.mail('alice')).toEqual([]);
    expect(await session.read('alice')).toEqual([task.msgId]);
    expect((await session.journal('alice')).at(-1)).toMatchObject({ kind: 'engine', code: 'cancelled' });
    expect(await session.dueKinds('alice')).toEqual([]);
    const job = { sessionId: session.id, agent: 'alice', epoch: Number(epoch) };
    expect(await session.mailbox.claim(job, { token: 't', host: 'host', leaseMs: 1_000 })).toBeUndefined();
  });

  test('stops agents that work without a task as well, and withdraws what they asked', async () => {
    await lead.send('alice', 'task');
    const alice = await session.wake('alice');
    await alice.send('bob', 'clarify', undefined, { park: 'if_done' });
    const bob = await session.wake('bob');
    await bob.send('carol', 'clarify', undefined, { park: 'if_done' });
    const carol = await session.wake('carol');
    await session.mailbox.cancelRun(session.id, 'enough');
    expect(await carol.read()).toMatchObject({ tail: 'idle', work: false, leave: 'cancelled', questions: [] });
    for (const agent of [alice, bob, carol]) await agent.exit();
    expect((await session.messages()).filter(({ type }) => type === 'clarify_resp')).toEqual([]);
    for (const name of ['alice', 'bob', 'carol'])
      expect(await session.agent(name)).toMatchObject({ st: 'unloaded', tail: 'idle' });
  });

  test('reaches an agent whose step began before and ends after it', async () => {
    await lead.send('alice', 'task');
    const alice = await session.wake('alice');
    await session.mailbox.cancelRun(session.id, 'enough');
    await expect(alice.say('too late')).rejects.toMatchObject({ code: 'cancelled' });
    await expect(lead.say('too late')).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('leaves agents at rest alone', async () => {
    await lead.say('done');
    await session.ask();
    await lead.read();
    const before = [await session.agent('bob'), await session.journal('bob')];
    await session.mailbox.cancelRun(session.id, 'enough');
    expect([await session.agent('bob'), await session.journal('bob')]).toEqual(before);
  });

  test('without a run changes nothing', async () => {
    await lead.say('done');
    const before = await session.dump();
    expect(await session.mailbox.cancelRun(session.id, 'enough')).toBeUndefined();
    expect(await session.dump()).toEqual(before);
  });
});

describe('R19: cancelling one agent', () => {
  test('closes its tasks, tells the lead, and raises only its number', async () => {
    const task = await lead.send('alice', 'task');
    await lead.send('bob', 'task');
    const [alice, bob] = [await session.wake('alice'), await session.wake('bob')];
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    await expect(alice.say('too late')).rejects.toMatchObject({ code: 'cancelled' });
    await bob.say('in time');
    await lead.park();
    expect(await results()).toEqual([
      { from: 'alice', inReplyTo: task.msgId, status: 'cancelled' },
      { from: 'bob', inReplyTo: expect.any(String), status: 'ok' },
    ]);
    expect(await session.session()).toMatchObject({ cancel: '0' });
    expect(await session.agent('alice')).toMatchObject({ cancel: '1' });
    expect((await alice.read()).leave).toBe('cancelled');
  });

  test.each(['scheduled', 'loaded'])('answers its peers when it is %s', async (state) => {
    const asked = await session.send('bob', 'alice', 'clarify');
    if (state === 'loaded') await session.wake('alice');
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    expect((await session.messages()).at(-1)).toMatchObject({ to: 'bob', inReplyTo: asked.msgId });
    expect(await session.records('questions')).toEqual({});
  });

  test('withdraws its questions, so that no answer wakes it for nothing', async () => {
    await session.send('bob', 'alice', 'clarify');
    const alice = await session.wake('alice');
    const question = await alice.send(LEAD, 'clarify', undefined, { park: 'if_done' });
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    expect(await lead.send('alice', 'clarify_resp', question.msgId)).toMatchObject({ code: 'question_withdrawn' });
  });

  test('of a session that has not got it is refused', async () => {
    await expect(session.mailbox.cancelAgent(session.id, 'zed', 'x')).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('of a quiet team tells the lead, so that nobody waits', async () => {
    await lead.send('alice', 'task');
    await lead.park();
    await lead.exit();
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    expect(await session.agent(LEAD)).toMatchObject({ st: 'scheduled', urgent: '1' });
  });
});

test('R19: a shutdown costs no model call, closes the tasks, and is in the journal', async () => {
  const task = await lead.send('alice', 'task');
  const alice = await session.wake('alice');
  await alice.step({ open: ['t1'] });
  const shutdown = await lead.send('alice', 'shutdown');
  expect(await results()).toEqual([{ from: 'alice', inReplyTo: task.msgId, status: 'cancelled' }]);
  expect(await alice.read()).toMatchObject({ tail: 'idle', leave: 'shutdown' });
  expect(await session.read('alice')).toEqual([task.msgId, shutdown.msgId]);
  expect(await lead.send('bob', 'shutdown')).toMatchObject({ code: 'ok' });
  expect((await session.agent('bob')).st).toBeUndefined();
  expect(session.activations.filter(({ agent }) => agent === 'bob')).toEqual([]);
});

test('R19: a task that was closed while its mail waited is journaled without a model call', async () => {
  const task = await lead.send('alice', 'task');
  await session.redis.hdel(session.keys.of('tasks', session.id), task.msgId);
  const alice = await session.wake('alice');
  expect(alice.inbox).toMatchObject({ tail: 'idle', work: false });
  expect(await session.read('alice')).toEqual([task.msgId]);
  expect(await session.session()).toMatchObject({ calls: '1' });
});

describe('closing a session', () => {
  test('cancels its run, sends its agents away, and leaves only keys that expire and nothing due', async () => {
    await lead.send('alice', 'task');
    await lead.send('carol', 'task');
    const alice = await session.wake('alice');
    await alice.send('bob', 'clarify');
    const bob = await session.wake('bob');
    await bob.send(LEAD, 'clarify');
    expect(await session.mailbox.closeSession(session.id)).toBe(true);
    const dump = await session.dump();
    expect(Object.keys(dump).filter((key) => !dump[key]?.expires)).toEqual([]);
    expect(dump[session.dueKey]).toBeUndefined();
    const left = (await session.events('ax')).map(({ agent, data }) => [agent, data.reason]);
    expect(left).toEqual([
      ['alice', 'shutdown'],
      ['bob', 'shutdown'],
    ]);
    expect((await session.events('done')).map(({ data }) => data.reason)).toEqual(['session_ended']);
  });

  test('without a run stops what is at work, and answers nobody', async () => {
    await lead.say('done');
    await session.send('alice', 'bob', 'clarify');
    await session.send('bob', 'alice', 'clarify');
    const [alice, bob] = [await session.wake('alice'), await session.wake('bob')];
    await alice.step({ open: ['t1'] });
    await session.mailbox.closeSession(session.id);
    const dump = await session.dump();
    expect(Object.keys(dump).filter((key) => !dump[key]?.expires)).toEqual([]);
    expect((await session.journal('alice')).some((entry) => entry.kind === 'tool' && entry.callId === 't1')).toBe(true);
    await expect(bob.say('x')).rejects.toMatchObject({ code: 'session_closed' });
  });

  test('twice is told apart from the first time', async () => {
    expect(await session.mailbox.closeSession(session.id)).toBe(true);
    expect(await session.mailbox.closeSession(session.id)).toBe(false);
    await expect(session.mailbox.cancelRun(session.id, 'x')).rejects.toMatchObject({ code: 'session_closed' });
  });
});
