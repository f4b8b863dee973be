import type { HandoffEntry, JournalEntry } from '@mailroom/contracts';
import { LEAD, LIMITS } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import type { OutgoingHandoff } from './lease';
import type { SessionSettings } from './mailbox';
import { BenchSession } from './testing/bench-session';
import { brokenRules, seeSession } from './testing/handoff-rules';
import type { LoadedAgent } from './testing/loaded-agent';

const redis = testRedis();
let session: BenchSession;
const open = async (settings: Partial<SessionSettings> = {}): Promise<void> => {
  await session.close();
  session = await BenchSession.open({ redis, settings });
};
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(async () => {
  const broken = brokenRules(await seeSession(session));
  await session.close();
  expect(broken).toEqual([]);
});

/** A lead that called these in one step, and parked. */
const called = async (to: string[], terms: Partial<OutgoingHandoff> = {}): Promise<LoadedAgent> => {
  const lead = await session.startRun();
  await lead.handOff(to, terms);
  return lead;
};
const outcomes = async (name = LEAD): Promise<[string, string][]> =>
  (await session.journal(name)).flatMap((entry): [string, string][] =>
    entry.kind === 'handoff'
      ? [[entry.to, entry.outcome]]
      : entry.kind === 'tool'
        ? [[entry.callId, textOf(entry)]]
        : [],
  );
const textOf = (entry: JournalEntry & { content: string }): string =>
  entry.content.startsWith('{') ? (JSON.parse(entry.content) as { error: string }).error : entry.content;
const tasksTo = async (name: string) =>
  (await session.messages()).filter(({ to, type }) => to === name && type === 'task');
const results = async () =>
  (await session.messages()).filter(({ type }) => type === 'result').map(({ status }) => status);
const ends = async () => (await session.events('he')).map(({ data }) => [data.to, data.status, data.attempts]);
const tailOf = async (name: string) => (await session.agent(name)).tail;
/** Loads an agent that asks its caller at once. */
const asks = async (name: string, caller = LEAD): Promise<{ agent: LoadedAgent; question: string }> => {
  const agent = await session.wake(name);
  const { msgId } = await agent.send(caller, 'clarify', undefined, { park: 'if_done' });
  return { agent, question: msgId };
};

/** The lead calls bob, who calls a leaf. */
const nested = async (): Promise<LoadedAgent> => {
  await called(['bob#1'], { timeoutMs: 50_000 });
  const bob = await session.wake('bob#1');
  await bob.handOff(['bob#1/leaf#1'], { depth: 2 });
  return bob;
};

describe('attempts', () => {
  test('contract 14: a failure sends exactly one further task, and the caller hears only of the last one', async () => {
    await called(['bob#1'], { max: 3 });
    const bob = await session.wake('bob#1');
    for (const sent of [2, 3]) {
      await bob.fail();
      expect(await tasksTo('bob#1')).toHaveLength(sent);
      expect(await tailOf(LEAD)).toBe('handoff');
      await bob.read();
    }
    await bob.fail();
    expect(await tasksTo('bob#1')).toHaveLength(3);
    expect(await outcomes()).toEqual([['bob#1', 'failed']]);
    expect(await ends()).toEqual([['bob#1', 'failed', 3]]);
    expect(await tailOf(LEAD)).toBe('model');
  });

  test('contract 15: a limit that is swept twice stops one attempt and starts one', async () => {
    await called(['bob#1'], { max: 2, timeoutMs: 50_000 });
    const bob = await session.wake('bob#1');
    await session.fire('bob#1', 'handoff');
    await session.due.sweep({ sessionId: session.id, agent: 'bob#1', kind: 'handoff' }, { againMs: 1, unclaimedMs: 1 });
    expect(await tasksTo('bob#1')).toHaveLength(2);
    await expect(bob.say('late')).rejects.toMatchObject({ code: 'cancelled' });
    expect(await session.dueKinds('bob#1')).toContain('handoff');
    await bob.read();
    await bob.say('in time');
    expect(await outcomes()).toEqual([['bob#1', 'completed']]);
    expect(await results()).toEqual(['timeout', 'ok']);
  });

  test('contract 15: a limit that is swept after the result changes nothing', async () => {
    await called(['bob'], { timeoutMs: 50_000 });
    await (await session.wake('bob')).say('done');
    expect(await session.dueKinds('bob')).not.toContain('handoff');
    await session.redis.zadd(session.dueKey, 0, `${session.id}|bob|handoff`);
    const before = await session.journal('bob');
    await session.fire('bob', 'handoff');
    expect(await session.journal('bob')).toEqual(before);
    expect(await outcomes()).toEqual([['bob', 'completed']]);
  });

  test('contract 15: the limit of one call does not end the next one of the same agent', async () => {
    await called(['bob', 'bob'], { timeoutMs: 50_000 });
    const bob = await session.wake('bob');
    await bob.say('one');
    expect((await session.dueAt('bob', 'handoff')) ?? 0).toBeGreaterThan(Date.now());
    expect(await tasksTo('bob')).toHaveLength(2);
    await bob.read();
    await bob.say('two');
    expect(await outcomes()).toEqual([
      ['bob', 'completed'],
      ['bob', 'completed'],
    ]);
  });

  test('R17: a late result of an attempt that was stopped is kept as late and is no result of the next attempt', async () => {
    await called(['bob#1'], { max: 2, timeoutMs: 50_000 });
    const [first] = await tasksTo('bob#1');
    await session.wake('bob#1');
    await session.fire('bob#1', 'handoff');
    await session.send('bob#1', LEAD, 'result', { inReplyTo: first?.msgId ?? '' });
    expect((await session.messages()).at(-1)).toMatchObject({ type: 'result', late: true });
    expect(await outcomes()).toEqual([]);
    expect(await tailOf(LEAD)).toBe('handoff');
    await expect(session.send('bob#1', LEAD, 'result', { inReplyTo: first?.msgId ?? '' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('an agent that is dead gets no further attempt; the next call in its queue gives it another chance', async () => {
    await open({ strikes: 2 });
    await called(['bob', 'bob'], { max: 3 });
    for (let i = 0; i < 2; i++) await (await session.wake('bob')).release('error');
    expect(await ends()).toEqual([['bob', 'failed', 1]]);
    expect(await tasksTo('bob')).toHaveLength(2);
    await (await session.wake('bob')).say('alive');
    expect(await outcomes()).toEqual([
      ['bob', 'failed'],
      ['bob', 'completed'],
    ]);
  });

  test('a dead instance is no member of the session any more', async () => {
    await open({ strikes: 2 });
    await called(['bob#1']);
    for (let i = 0; i < 2; i++) await (await session.wake('bob#1')).release('error');
    expect(await session.live()).toEqual([]);
  });

  test('a failed call falls back to the own tool once; its result makes the caller go on', async () => {
    const lead = await called(['bob#1', 'alice#1'], { fallback: true });
    await (await session.wake('bob#1')).fail();
    const { openCalls, tail } = await lead.read();
    expect([openCalls, tail]).toEqual([['call_1_0'], 'tools']);
    await lead.commit({ closes: 'call_1_0', entries: [{ kind: 'tool', callId: 'call_1_0', content: 'own' }] });
    expect(await tailOf(LEAD)).toBe('handoff');
    await (await session.wake('alice#1')).say('done');
    expect(await tailOf(LEAD)).toBe('model');
  });
});

describe('a colleague that is reused', () => {
  test.each<[string, (bob: LoadedAgent) => Promise<unknown>, string]>([
    ['a report', (bob) => bob.say('done'), 'completed'],
    ['a failure', (bob) => bob.fail(), 'failed'],
    ['its limit', () => session.fire('bob', 'handoff'), 'failed'],
  ])('contract 7: after %s the next call begins, and no sooner', async (_, end, outcome) => {
    await called(['bob', 'bob', 'bob'], { timeoutMs: 50_000 });
    const bob = await session.wake('bob');
    for (const sent of [1, 2, 3]) {
      expect(await tasksTo('bob')).toHaveLength(sent);
      await end(bob);
      await bob.read().catch(() => undefined);
    }
    expect(await outcomes()).toEqual([1, 2, 3].map(() => ['bob', outcome]));
    expect(await session.records('handoffs')).toEqual({});
  });

  test.each([
    ['the agent', () => session.mailbox.cancelAgent(session.id, 'bob', 'enough')],
    ['the run', () => session.mailbox.cancelRun(session.id, 'enough')],
    ['the session', () => session.mailbox.closeSession(session.id)],
  ])('R19: with %s all calls of its queue are closed, and none begins', async (_, cancel) => {
    await called(['bob', 'bob', 'bob']);
    await session.wake('bob');
    await cancel();
    expect((await outcomes()).sort()).toEqual([
      ['bob', 'failed'],
      ['call_1_1', 'Cancelled with the call.'],
      ['call_1_2', 'Cancelled with the call.'],
    ]);
    expect(await tasksTo('bob')).toHaveLength(1);
    expect([await session.records('handoffs'), await session.records('tasks')]).toEqual([{}, {}]);
    expect((await ends()).map(([, status]) => status)).toEqual(['failed', 'failed', 'failed']);
  });

  test('a full mailbox does not keep a call out', async () => {
    await open({ mailboxSize: 2 });
    const lead = await session.startRun();
    for (let i = 0; i < 2; i++) await session.send('alice', 'bob', 'clarify_resp');
    await expect(session.send('alice', 'bob', 'clarify_resp')).rejects.toMatchObject({ code: 'mailbox_full' });
    await lead.handOff(['bob']);
    expect(await session.mail('bob')).toHaveLength(3);
  });
});

describe('questions', () => {
  test('a question is the interim result of its call, and the answer’s call waits for the report', async () => {
    const lead = await called(['bob#1']);
    const { agent: bob, question } = await asks('bob#1');
    expect(await outcomes()).toEqual([['bob#1', 'asked']]);
    await lead.read();
    const call = await lead.answer(question);
    await bob.read();
    await bob.say('thanks');
    expect((await session.journal(LEAD)).at(-1)).toMatchObject({ kind: 'handoff', callId: call, outcome: 'completed' });
  });

  test('a question that its caller does not answer leaves the report to ordinary mail', async () => {
    const lead = await called(['bob#1']);
    const { agent: bob, question } = await asks('bob#1');
    await lead.read();
    await lead.park();
    await session.age('questions', question);
    await session.fire('bob#1', 'clarify');
    await bob.read();
    await bob.say('assumed');
    expect(await outcomes()).toEqual([['bob#1', 'asked']]);
    expect(await session.mail(LEAD)).toHaveLength(1);
  });

  test('calls that wait behind a colleague that asks are answered at once, so that its caller can answer it', async () => {
    const lead = await called(['bob', 'bob']);
    const { question } = await asks('bob');
    expect(await outcomes()).toEqual([
      ['bob', 'asked'],
      ['call_1_1', 'Not begun: bob asked a question first. Answer it, then call again.'],
    ]);
    await lead.read();
    await lead.handOff(['bob']);
    expect((await outcomes()).at(-1)).toEqual(['call_2_0', expect.stringContaining('asked a question first')]);
    await lead.read();
    await lead.answer(question);
    expect(await tailOf(LEAD)).toBe('handoff');
  });

  test('a question beyond the limit is answered by the engine, and the call goes on waiting', async () => {
    await open({ rounds: 0 });
    await called(['bob#1']);
    await asks('bob#1');
    expect(await tailOf(LEAD)).toBe('handoff');
    expect(await outcomes()).toEqual([]);
    expect((await session.messages()).at(-1)).toMatchObject({ type: 'clarify_resp', to: 'bob#1' });
  });
});

describe('layers', () => {
  test.each([
    ['agent', () => session.mailbox.cancelAgent(session.id, 'bob#1', 'enough')],
    ['run', () => session.mailbox.cancelRun(session.id, 'enough')],
  ])('R19: cancelling the %s reaches below an instance that is not loaded', async (_, cancel) => {
    const bob = await nested();
    await bob.exit();
    await session.wake('bob#1/leaf#1');
    await cancel();
    expect(await results()).toEqual(['cancelled', 'cancelled']);
    expect(await session.records('tasks')).toEqual({});
  });

  test('contract 15: the limit of a call ends what its colleague has called', async () => {
    await nested();
    await session.fire('bob#1', 'handoff');
    expect(await results()).toEqual(['cancelled', 'timeout']);
    expect(await session.records('tasks')).toEqual({});
  });

  test('a colleague that reports while its own one still asks ends that one’s work', async () => {
    const bob = await nested();
    const { agent: leaf } = await asks('bob#1/leaf#1', 'bob#1');
    await bob.read();
    await bob.say('without the leaf', true);
    await leaf.read();
    await leaf.exit();
    expect(await outcomes()).toEqual([['bob#1', 'completed']]);
    expect([await session.records('tasks'), await session.live()]).toEqual([{}, []]);
  });

  test('a called instance is a member until it has left with nothing to do', async () => {
    const bob = await nested();
    expect(await session.live()).toEqual(['bob#1', 'bob#1/leaf#1']);
    await bob.exit();
    await (await session.wake('bob#1/leaf#1')).say('leaf');
    expect(await session.live()).toEqual(['bob#1']);
    await (await session.wake('bob#1')).say('bob');
    expect(await session.live()).toEqual([]);
  });
});

describe('the run', () => {
  test('R15: a colleague that waits for mail while its caller waits for it has failed, in the innermost layer', async () => {
    const bob = await nested();
    await bob.exit();
    const leaf = await session.wake('bob#1/leaf#1');
    await leaf.park();
    await leaf.exit();
    expect(await outcomes('bob#1')).toEqual([['bob#1/leaf#1', 'failed']]);
    expect((await session.agent('bob#1')).st).toBe('scheduled');
    expect(await outcomes()).toEqual([]);
  });

  test.each([
    ['its budget', async () => session.setSession('callLimit', 1).then(() => session.wake('alice#1'))],
    [
      'the wait budget',
      async () => {
        await session.setSession('progressAt', 0);
        await session.fire(LEAD, 'wait');
      },
    ],
  ])(
    'R15, R21: when %s ends the run, running and waiting calls are closed and the lead writes its answer',
    async (_, end) => {
      const lead = await called(['bob', 'bob', 'alice#1'], { max: 3 });
      await session.wake('bob');
      await end();
      expect((await outcomes()).map(([name]) => name).sort()).toEqual(['alice#1', 'bob', 'call_1_1']);
      expect(await tailOf(LEAD)).toBe('model');
      expect(await tasksTo('bob')).toHaveLength(1);
      await lead.read();
      expect(await lead.say('what I have')).toMatchObject({ settled: true });
    },
  );

  test('R12: a lead at its step limit closes a call that nobody waits for any more', async () => {
    const lead = await called(['bob#1']);
    await asks('bob#1');
    await lead.read();
    await lead.commit({ conclude: 'max_steps' });
    await lead.read();
    expect(await lead.say('what I have')).toMatchObject({ settled: true });
    expect(await session.records('handoffs')).toEqual({});
  });

  test('a caller that is handed over while it waits is unloaded, and its lease says that it is quiet', async () => {
    const lead = await called(['bob#1']);
    const held = { ...lead.lease, agentCancel: 0 };
    await session.ask();
    expect(await session.mailbox.renewLeases([held], 60_000)).toEqual(['quiet']);
    await lead.release();
    expect((await session.agent(LEAD)).st).toBe('unloaded');
    const bob = await session.wake('bob#1');
    await bob.release();
    await (await session.wake('bob#1')).say('done');
    const { entries } = await (await session.load(LEAD)).read();
    expect(entries.slice(-2).map(({ kind }) => kind)).toEqual(['handoff', 'mail']);
  });

  test('a caller that holds more of its journal than there is, is out of step', async () => {
    const lead = await called(['bob#1']);
    await (await session.wake('bob#1')).say('done');
    const { entries } = await lead.read();
    await session.redis.rpop(session.keys.of('memory', session.id, LEAD));
    await expect(session.mailbox.readInbox(lead.lease, entries.length)).rejects.toMatchObject({ code: 'out_of_step' });
    const result = entries.at(-1) as HandoffEntry;
    await session.redis.rpush(session.keys.of('memory', session.id, LEAD), JSON.stringify(result));
  });

  test('a closed session keeps no key of an instance, and nothing of one is due', async () => {
    await called(['bob#1', 'alice#1'], { timeoutMs: LIMITS.keepMs });
    await (await session.wake('bob#1')).say('done');
    await asks('alice#1');
    await session.mailbox.closeSession(session.id);
    const dump = await session.dump();
    const kept = Object.entries(dump).filter(([key, { expires }]) => key.includes(session.id) && !expires);
    expect(kept.map(([key]) => key)).toEqual([]);
    expect([...(await session.dueKinds('bob#1')), ...(await session.dueKinds('alice#1'))]).toEqual([]);
  });
});
