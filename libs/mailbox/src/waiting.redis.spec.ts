import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import type { SessionSettings } from './mailbox';
import { BenchSession } from './testing/bench-session';
import type { LoadedAgent } from './testing/loaded-agent';

const redis = testRedis();
let session: BenchSession;
let lead: LoadedAgent;
afterEach(() => session.close());

async function start(settings: Partial<SessionSettings> = {}): Promise<void> {
  session = await BenchSession.open({ redis, settings });
  lead = await session.startRun();
}
/** Alice and bob have left with their tasks open; those of `asking` asked the lead a question before, which it has read. */
async function stuckTeam(...asking: string[]): Promise<void> {
  for (const agent of ['alice', 'bob']) {
    await lead.send(agent, 'task');
    const loaded = await session.wake(agent);
    if (asking.includes(agent)) await loaded.send(LEAD, 'clarify', undefined, { park: 'if_done' });
    else await loaded.park();
    await loaded.exit();
  }
  await lead.read();
}
const notices = async () => (await session.messages()).filter(({ type }) => type === 'notice');
const replies = async () =>
  (await session.messages())
    .filter(({ type, content }) => type === 'clarify_resp' && content.startsWith('No answer came'))
    .map(({ from, to, inReplyTo }) => ({ from, to, inReplyTo }));
const questions = async () => Object.keys(await session.records('questions'));

describe('R14: the wake window of a waiting lead', () => {
  test('collects results while other tasks are open, and closes at once with the last one', async () => {
    await start({ windowMs: 60_000 });
    const tasks = [await lead.send('alice', 'task'), await lead.send('bob', 'task')];
    await lead.park();
    const [alice, bob] = [await session.wake('alice'), await session.wake('bob')];
    await alice.say('one');
    const waiting = await lead.read();
    expect(waiting.waitMs).toBeGreaterThan(50_000);
    expect(waiting).toMatchObject({ tail: 'idle', work: true });
    expect(await session.session()).toMatchObject({ runStatus: 'waiting', calls: '3' });
    expect(await lead.exit()).toBe(false);
    await bob.say('two');
    expect(await lead.read()).toMatchObject({ tail: 'model', tasks: [] });
    expect(lead.inbox?.waitMs).toBeUndefined();
    expect(await session.read(LEAD)).toHaveLength(3);
    expect(await session.session()).toMatchObject({ runStatus: 'running', calls: '4' });
    expect(tasks).toHaveLength(2);
  });

  test('is over when its time is, and does not hold back a lead that is at work', async () => {
    await start({ windowMs: 60_000 });
    await lead.send('alice', 'task');
    await lead.send('bob', 'task');
    const alice = await session.wake('alice');
    await alice.send(LEAD, 'clarify');
    expect((await lead.read()).tail).toBe('model');
    await lead.park();
    await alice.say('one', true);
    expect((await lead.read()).waitMs).toBeGreaterThan(0);
    await session.redis.hset(session.keys.of('agent', session.id, LEAD), 'wakeAt', 0);
    expect((await lead.read()).tail).toBe('model');
  });
});

describe('R15: a session in which nobody works', () => {
  test('tells the lead once, then cancels the open tasks and lets it write its answer', async () => {
    await start();
    await stuckTeam();
    expect(await notices()).toEqual([]);
    expect((await lead.park()).work).toBe(true);
    expect(await notices()).toMatchObject([{ from: 'system', to: LEAD }]);
    await lead.read();
    expect(lead.inbox?.final).toBeUndefined();
    expect((await lead.park()).work).toBe(true);
    expect(await notices()).toHaveLength(1);
    expect(await lead.read()).toMatchObject({ final: 'quiescent', tail: 'model', tasks: [] });
    const results = (await session.messages()).filter(({ type }) => type === 'result');
    expect(results.map(({ from, status }) => [from, status])).toEqual([
      ['alice', 'cancelled'],
      ['bob', 'cancelled'],
    ]);
    expect(await lead.send('alice', 'task')).toMatchObject({ code: 'run_ending' });
    expect((await lead.say('what I have')).settled).toBe(true);
  });

  test('tells the lead again when a task, an answer or a result was committed in between', async () => {
    await start();
    await stuckTeam();
    await lead.park();
    await lead.read();
    await lead.send('alice', 'revision', undefined, { park: 'yes' });
    const alice = await session.wake('alice');
    await alice.park();
    await alice.exit();
    expect(await notices()).toHaveLength(2);
    expect((await session.session()).final).toBe('');
  });

  test('tells the lead again when a final text was the result in between', async () => {
    await start();
    await stuckTeam('alice');
    await lead.park();
    await lead.read();
    await session.age('questions', (await questions())[0] ?? '');
    await session.fire('alice', 'clarify');
    const alice = await session.wake('alice');
    await lead.park();
    await alice.say('done');
    await lead.read();
    await lead.park();
    expect(await notices()).toHaveLength(2);
    expect((await session.session()).final).toBe('');
  });

  test('is told of by the exit, the release and the lost lease that make it quiet', async () => {
    for (const leave of ['exit', 'release', 'lease'] as const) {
      await start();
      const task = await lead.send('alice', 'task');
      const alice = await session.wake('alice');
      await alice.send(LEAD, 'clarify', task.msgId, { park: 'if_done' });
      await lead.read();
      await lead.park();
      expect(await notices()).toEqual([]);
      await lead.exit();
      await (leave === 'lease' ? session.fire('alice', 'lease') : alice[leave]());
      expect(await notices()).toHaveLength(1);
      expect(await session.agent(LEAD)).toMatchObject({ st: 'scheduled' });
      await session.close();
    }
    await start();
  });

  test('is not one where an agent is scheduled, loaded or has mail that wakes', async () => {
    await start();
    await lead.send('alice', 'task');
    await lead.park();
    await lead.exit();
    const alice = await session.wake('alice');
    await lead.exit().catch(() => undefined);
    await alice.send('bob', 'clarify', undefined, { park: 'if_done' });
    await alice.exit();
    expect(await session.agent('bob')).toMatchObject({ st: 'scheduled' });
    expect(await notices()).toEqual([]);
  });
});

describe('R15: a question without an answer', () => {
  test('that the lead parks over twice is answered by the engine, and so are the others of its sender', async () => {
    await start();
    await lead.send('alice', 'task');
    await lead.send('bob', 'task');
    const alice = await session.wake('alice');
    const asked = [await alice.send(LEAD, 'clarify'), await alice.send(LEAD, 'clarify')];
    await alice.step({ park: 'yes' });
    await lead.read();
    await lead.park();
    expect(await replies()).toEqual([]);
    await session.ask();
    await lead.read();
    await lead.park();
    expect(await replies()).toEqual([{ from: LEAD, to: 'alice', inReplyTo: asked[0]?.msgId }]);
    expect(await questions()).toEqual([]);
    expect(await session.agent('alice')).toMatchObject({ wake: '1' });
  });

  test('that the lead has not read is not one that it ignored', async () => {
    await start();
    await lead.send('alice', 'task');
    const alice = await session.wake('alice');
    await alice.send(LEAD, 'clarify');
    await lead.park();
    await lead.park();
    expect(await replies()).toEqual([]);
  });

  test('is answered at its deadline, with all others of the same sender that are as old', async () => {
    await start();
    await lead.send('alice', 'task');
    const alice = await session.wake('alice');
    const toLead = [await alice.send(LEAD, 'clarify'), await alice.send(LEAD, 'clarify')];
    const toBob = await alice.send('bob', 'clarify');
    for (const id of await questions()) await session.age('questions', id);
    await session.fire('alice', 'clarify');
    expect(await replies()).toEqual([
      { from: LEAD, to: 'alice', inReplyTo: toLead[0]?.msgId },
      { from: 'bob', to: 'alice', inReplyTo: toBob.msgId },
    ]);
    expect(await session.dueKinds('alice')).toEqual(['lease']);
  });

  test('keeps its own deadline when its sender asks again', async () => {
    await start();
    await lead.send('alice', 'task');
    const alice = await session.wake('alice');
    await alice.send(LEAD, 'clarify');
    await session.redis.zadd(session.dueKey, 'XX', 1_000, `${session.id}|alice|clarify`);
    const second = await alice.send('bob', 'clarify');
    expect(await session.dueAt('alice', 'clarify')).toBe(1_000);
    await session.age('questions', (await questions()).find((id) => id !== second.msgId) ?? '');
    await session.fire('alice', 'clarify');
    expect(await questions()).toEqual([second.msgId]);
    expect(await session.dueAt('alice', 'clarify')).toBeGreaterThan(Date.now());
  });
});

describe('R15: the wait budget', () => {
  test('concludes a run in which nobody committed anything for too long', async () => {
    await start();
    await lead.send('alice', 'task');
    await lead.park();
    await lead.exit();
    await session.load('alice');
    await session.fire(LEAD, 'wait');
    expect((await session.session()).final).toBe('');
    expect(await session.dueAt(LEAD, 'wait')).toBeGreaterThan(Date.now());
    await session.setSession('progressAt', 0);
    await session.fire(LEAD, 'wait');
    expect((await session.session()).final).toBe('wait_budget');
    expect(await session.agent(LEAD)).toMatchObject({ st: 'scheduled', tail: 'model' });
    expect(await session.agent('alice')).toMatchObject({ st: 'loaded', leave: 'cancelled', cancel: '1' });
    expect(await session.dueKinds(LEAD)).toEqual(['job']);
  });

  test('does not run while the lead works', async () => {
    await start();
    expect(await session.dueKinds(LEAD)).toEqual(['lease']);
    await lead.send('alice', 'task');
    await lead.park();
    await session.ask();
    await lead.read();
    expect(await session.dueKinds(LEAD)).toEqual(['lease']);
  });
});

describe('R21: the budget of model calls', () => {
  test('when it is spent a sub-agent makes no call, and the lead has one reserved for its answer', async () => {
    await start({ callLimit: 1 });
    await lead.send('alice', 'task');
    await lead.park();
    const alice = await session.load('alice');
    expect(await alice.read()).toMatchObject({ tail: 'idle', work: false, leave: 'cancelled', tasks: [] });
    expect(await session.session()).toMatchObject({ calls: '1', final: 'budget_calls' });
    expect(await lead.read()).toMatchObject({ tail: 'model', final: 'budget_calls' });
    expect(await session.read(LEAD)).toHaveLength(2);
    expect(await session.session()).toMatchObject({ calls: '2' });
    expect((await lead.say('what I have')).settled).toBe(true);
    await expect(session.ask()).rejects.toMatchObject({ code: 'budget_spent' });
  });

  test('when it is spent at the lead its open tasks are cancelled, and it reads so in its last step', async () => {
    await start({ callLimit: 2 });
    await lead.send('alice', 'task');
    expect(await lead.read()).toMatchObject({ tail: 'model' });
    await lead.send('bob', 'task');
    const last = await lead.read();
    expect(last).toMatchObject({ final: 'budget_calls', tail: 'model', tasks: [] });
    expect([...last.messages.values()].filter(({ type }) => type === 'result')).toHaveLength(2);
    expect(await session.session()).toMatchObject({ calls: '3' });
  });
});

test('R12: a lead at its limit has its open tasks closed and one more step', async () => {
  await start();
  await lead.send('alice', 'task');
  const { work } = await lead.commit({ conclude: 'max_steps' });
  expect(work).toBe(true);
  expect(await lead.read()).toMatchObject({ final: 'max_steps', tail: 'model', tasks: [] });
  expect(await session.agent('alice')).toMatchObject({ st: 'unloaded' });
});
