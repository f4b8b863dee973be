import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { BenchSession } from './testing/bench-session';

const redis = testRedis();
let session: BenchSession;
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(() => session.close());

const stateOf = async (agent: string) => {
  const { st, epoch } = await session.agent(agent);
  return `${st} ${epoch}`;
};

describe('an activation job', () => {
  test.each([
    ['waiting', 'scheduled 1'],
    ['active', 'scheduled 1'],
    ['missing', 'scheduled 2'],
  ] as const)('that is %s: the agent is then %s', async (state, expected) => {
    await session.ask();
    await session.fire(LEAD, 'job', { epoch: 1, state });
    expect(await stateOf(LEAD)).toBe(expected);
    expect(session.activations.map(({ epoch }) => epoch)).toEqual(state === 'missing' ? [1, 2] : [1]);
    expect(await session.dueAt(LEAD, 'job')).toBeGreaterThan(Date.now());
  });

  test('that is active but was not claimed for too long is given up for a new one', async () => {
    await session.ask();
    await session.redis.hset(session.keys.of('agent', session.id, LEAD), 'since', 0);
    await session.fire(LEAD, 'job', { epoch: 1, state: 'active' });
    expect(await stateOf(LEAD)).toBe('scheduled 2');
    expect(
      await session.mailbox.claim(
        { sessionId: session.id, agent: LEAD, epoch: 1 },
        { token: 't', host: 'h', leaseMs: 1 },
      ),
    ).toBeUndefined();
  });

  test('that was looked up under an older epoch is left alone', async () => {
    await session.ask();
    await session.fire(LEAD, 'job', { epoch: 0, state: 'missing' });
    expect(await stateOf(LEAD)).toBe('scheduled 1');
    expect(await session.dueAt(LEAD, 'job')).toBe(0);
  });

  test('of an agent that is loaded by now is forgotten', async () => {
    await session.ask();
    await session.load(LEAD);
    await session.redis.zadd(session.dueKey, 0, `${session.id}|${LEAD}|job`);
    await session.fire(LEAD, 'job');
    expect(await session.dueKinds(LEAD)).toEqual(['lease']);
  });
});

test('an entry whose time has not come, or that is gone, fires nothing', async () => {
  await session.startRun();
  const before = await session.dump();
  await session.due.sweep({ sessionId: session.id, agent: LEAD, kind: 'lease' }, { againMs: 1, unclaimedMs: 1 });
  await session.fire('alice', 'lease');
  expect(await session.dump()).toEqual(before);
});

test('entries of a session that has ended or expired are removed', async () => {
  await session.ask();
  await session.redis.del(session.keys.of('session', session.id));
  await session.fire(LEAD, 'job');
  expect(await session.dueKinds(LEAD)).toEqual([]);
});

test('what is due is found by the clock of Redis, with its session, agent and kind', async () => {
  await session.ask();
  expect(await session.due.due(10)).toEqual([]);
  await session.redis.zadd(session.dueKey, 'XX', 0, `${session.id}|${LEAD}|job`);
  const entry = { sessionId: session.id, agent: LEAD, kind: 'job' };
  expect(await session.due.due(10)).toEqual([entry]);
  expect(await session.due.scheduledEpoch({ ...entry, kind: 'job' })).toBe(1);
  await session.load(LEAD);
  expect(await session.due.scheduledEpoch({ ...entry, kind: 'job' })).toBeUndefined();
});

describe('a lease that ran out', () => {
  test('schedules an agent with work again and writes ax lost', async () => {
    await session.send(LEAD, 'alice', 'task');
    await session.wake('alice');
    await session.fire('alice', 'lease');
    expect(await stateOf('alice')).toBe('scheduled 2');
    expect(await session.dueKinds('alice')).toEqual(['job']);
    expect((await session.events('ax')).map(({ data }) => [data.epoch, data.reason])).toEqual([[1, 'lost']]);
  });

  test('unloads an idle agent, and its peers are answered (R10)', async () => {
    const asked = await session.send('bob', 'alice', 'clarify');
    await session.send(LEAD, 'alice', 'task');
    const alice = await session.wake('alice');
    await alice.park();
    await session.fire('alice', 'lease');
    expect(await stateOf('alice')).toBe('unloaded 1');
    expect((await session.messages()).at(-1)).toMatchObject({
      to: 'bob',
      type: 'clarify_resp',
      inReplyTo: asked.msgId,
    });
  });
});

describe('strikes', () => {
  /** Loads an agent and loses it, so often. */
  const strike = async (agent: string, times: number) => {
    for (let i = 0; i < times; i++) {
      await session.wake(agent);
      await session.fire(agent, 'lease');
    }
  };

  test('five activations in a row that had work and committed nothing make an agent dead', async () => {
    const lead = await session.startRun();
    const task = await lead.send('alice', 'task');
    await strike('alice', 4);
    expect(await stateOf('alice')).toBe('scheduled 5');
    const question = await session.send('bob', 'alice', 'clarify');
    await strike('alice', 1);
    expect(await stateOf('alice')).toBe('dead 5');
    expect((await session.messages()).filter(({ from }) => from === 'alice')).toMatchObject([
      { type: 'result', inReplyTo: task.msgId, status: 'failed' },
      { type: 'clarify_resp', to: 'bob', inReplyTo: question.msgId },
    ]);
    expect(await session.dueKinds('alice')).toEqual([]);
  });

  test('a commit in between starts the count again, and a release without an error is no strike', async () => {
    await session.send(LEAD, 'alice', 'task');
    await strike('alice', 4);
    const alice = await session.wake('alice');
    await alice.step({});
    await alice.release('error');
    await strike('alice', 4);
    for (let i = 0; i < 6; i++) await (await session.wake('alice')).release('released');
    expect((await session.agent('alice')).st).toBe('scheduled');
    await (await session.wake('alice')).release('error');
    expect((await session.agent('alice')).st).toBe('dead');
  });

  test('mail of a dead agent goes to the dead letters, what waited and what comes', async () => {
    await session.send(LEAD, 'alice', 'task');
    for (let i = 0; i < 5; i++) {
      await session.load('alice');
      await session.fire('alice', 'lease');
    }
    const waited = await session.deadLetters();
    expect(waited).toHaveLength(1);
    const late = await session.send('bob', 'alice', 'clarify');
    expect(await session.deadLetters()).toEqual([...waited, late.msgId]);
    expect((await session.messages()).at(-1)).toMatchObject({ type: 'clarify_resp', to: 'bob', inReplyTo: late.msgId });
    expect(await session.records('questions')).toEqual({});
    expect(await session.mail('alice')).toEqual([]);
    expect((await session.events('ae')).map(({ data }) => data.code)).toEqual(['agent_dead', 'agent_dead']);
  });

  test('the next task ends dead, and the history it finds has no open tool call', async () => {
    await session.send(LEAD, 'alice', 'task');
    const alice = await session.wake('alice');
    await alice.step({ open: ['t1'] });
    await alice.release('released');
    await strike('alice', 5);
    expect((await session.agent('alice')).st).toBe('dead');
    await session.send(LEAD, 'alice', 'task');
    const revived = await session.wake('alice');
    expect(revived.inbox).toMatchObject({ tail: 'model', openCalls: [] });
    expect(revived.inbox?.entries).toContainEqual(expect.objectContaining({ kind: 'tool', callId: 't1' }));
    await session.fire('alice', 'lease');
    expect((await session.agent('alice')).strikes).toBe('1');
  });

  test('a dead lead fails its run, and the next user input begins a new one', async () => {
    const lead = await session.startRun();
    const runId = lead.inbox?.runId ?? '';
    await lead.send('alice', 'task');
    await lead.release('released');
    await session.wake('alice');
    await strike(LEAD, 5);
    expect((await session.agent(LEAD)).st).toBe('dead');
    expect(await session.run(runId)).toMatchObject({ status: 'failed', reason: 'lead_dead' });
    expect(await session.agent('alice')).toMatchObject({ leave: 'cancelled' });
    expect(await session.records('tasks')).toEqual({});
    expect((await session.events('done')).map(({ data }) => data.status)).toEqual(['failed']);
    const next = await session.ask();
    expect(next.runId).not.toBe(runId);
    expect((await session.wake(LEAD)).inbox?.tail).toBe('model');
  });
});
