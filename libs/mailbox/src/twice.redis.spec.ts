import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { SCRIPTS } from './scripts.generated';
import { BenchSession } from './testing/bench-session';
import type { KeyDump } from './testing/key-dump';
import { resendScripts } from './testing/resending-redis';

const redis = testRedis();
let session: BenchSession;
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(() => session.close());

const times = { againMs: 1_000, unclaimedMs: 1_000 };
const noWork = { entries: [], events: [], sends: [], park: 'no' } as const;

/** What is prepared before the command, and the command: all that the port can do, once each. */
const COMMANDS: Record<string, () => Promise<() => Promise<unknown>>> = {
  'open-session': async () => () =>
    session.mailbox.openSession({
      id: `${session.id}b`,
      space: 'default',
      leadAgentId: 'boss',
      roster: [],
      metadata: {},
      fingerprint: 'f',
      settings: {},
    }),
  'send of a user': async () => () => session.ask({ msgId: 'msg_000000000001' }),
  'send to a loaded agent': async () => {
    await session.startRun();
    return () => session.send('bob', LEAD, 'clarify', { msgId: 'msg_000000000002' });
  },
  'send that is refused': async () => () => session.send('bob', 'zed', 'clarify').catch(() => undefined),
  claim: async () => {
    await session.send(LEAD, 'alice', 'task');
    return () => session.load('alice');
  },
  drain: async () => {
    await session.ask();
    await session.ask();
    const lead = await session.load(LEAD);
    return () => lead.read();
  },
  'drain of a step that was begun before': async () => {
    const lead = await session.startRun();
    await lead.release();
    const next = await session.load(LEAD);
    return () => next.read();
  },
  'drain with nothing to do': async () => {
    const lead = await session.startRun();
    await lead.say('done');
    return () => lead.read();
  },
  'commit of a step with messages': async () => {
    const lead = await session.startRun();
    const send = { callId: 'c', msgId: 'msg_000000000003', to: 'alice', type: 'task', content: 'x' };
    return () => lead.step({ sends: [send], entries: [{ kind: 'tool', callId: 't', content: 'y' }], park: 'yes' });
  },
  'commit of a result that ends the activation': async () => {
    await session.ask();
    await session.send(LEAD, 'alice', 'task');
    const alice = await session.wake('alice');
    return () => alice.say('done');
  },
  'commit that settles the run': async () => {
    const lead = await session.startRun();
    return () => lead.say('done');
  },
  'commit of a step that calls colleagues': async () => {
    const lead = await session.startRun();
    return () => lead.handOff(['bob#1', 'alice', 'alice'], { timeoutMs: 50_000 });
  },
  'commit of a failure that another attempt follows': async () => {
    await (await session.startRun()).handOff(['bob#1'], { max: 2, timeoutMs: 50_000 });
    const bob = await session.wake('bob#1');
    return () => bob.fail();
  },
  'commit of a report that ends a call and begins the next': async () => {
    await (await session.startRun()).handOff(['alice', 'alice'], { timeoutMs: 50_000 });
    const alice = await session.wake('alice');
    return () => alice.say('done');
  },
  'commit of a question, and of its answer': async () => {
    const lead = await session.startRun();
    await lead.handOff(['bob#1']);
    const bob = await session.wake('bob#1');
    return async () => {
      const { msgId } = await bob.send(LEAD, 'clarify', undefined, { park: 'if_done' });
      await lead.read();
      await lead.answer(msgId);
    };
  },
  'cancel of a run with calls': async () => {
    await (await session.startRun()).handOff(['bob#1', 'alice', 'alice']);
    await session.wake('bob#1');
    return () => session.mailbox.cancelRun(session.id, 'enough');
  },
  'close-session with calls': async () => {
    await (await session.startRun()).handOff(['bob#1', 'alice', 'alice'], { timeoutMs: 50_000 });
    await session.wake('bob#1');
    return () => session.mailbox.closeSession(session.id);
  },
  'commit that makes the session quiet': async () => {
    const lead = await session.startRun();
    return () => lead.park();
  },
  'commit that is refused': async () => {
    const lead = await session.startRun();
    return () => session.mailbox.commit({ ...lead.fence, n: 5 }, noWork).catch(() => undefined);
  },
  emit: async () => {
    const lead = await session.startRun();
    return () => session.mailbox.emit(lead.fence, 1, [{ code: 't', data: { text: 'hello' } }]);
  },
  exit: async () => {
    const lead = await session.startRun();
    await lead.say('done');
    return () => lead.exit();
  },
  'exit that is refused': async () => {
    const lead = await session.startRun();
    return () => lead.exit();
  },
  'exit that wakes the lead of a quiet team': async () => {
    const lead = await session.startRun();
    await lead.send('alice', 'task');
    const alice = await session.wake('alice');
    await alice.park();
    await lead.park();
    await lead.exit();
    return () => alice.exit();
  },
  'release with work': async () => {
    const lead = await session.startRun();
    return () => lead.release();
  },
  'release without work': async () => {
    const lead = await session.startRun();
    await lead.say('done');
    return () => lead.release('evicted');
  },
  'renew-leases': async () => {
    const lead = await session.startRun();
    const held = { ...lead.lease, agentCancel: 0 };
    return () => session.mailbox.renewLeases([held, { ...held, token: 'old' }], 1_000_000);
  },
  'cancel of a run': async () => {
    const lead = await session.startRun();
    await lead.send('alice', 'task');
    await session.wake('alice');
    return () => session.mailbox.cancelRun(session.id, 'enough');
  },
  'cancel of an agent': async () => {
    const lead = await session.startRun();
    await lead.send('alice', 'task');
    await lead.park();
    await lead.exit();
    return () => session.mailbox.cancelAgent(session.id, 'alice', 'enough');
  },
  'close-session': async () => {
    const lead = await session.startRun();
    await lead.send('alice', 'task');
    return () => session.mailbox.closeSession(session.id);
  },
  due: async () => {
    await session.ask();
    return () => session.due.due(10);
  },
  'sweep of an entry that is not due': async () => {
    await session.startRun();
    return () => session.due.sweep({ sessionId: session.id, agent: LEAD, kind: 'lease' }, times);
  },
};

/** Times to come are counted from now, so they move on with each execution. */
function withoutDueTimes(dump: KeyDump): KeyDump {
  const { value, ...due } = dump[session.dueKey] ?? {};
  const members = (value as string[] | undefined)?.filter((_, i) => i % 2 === 0);
  return { ...dump, [session.dueKey]: { ...due, value: members } as never };
}

test.each(Object.entries(COMMANDS))(
  '%s: a second execution answers the same and changes nothing',
  async (_, prepare) => {
    const act = await prepare();
    const pairs = resendScripts(session.redis, session.prefix);
    await act();
    expect(pairs.length).toBeGreaterThan(0);
    for (const [first, second] of pairs) {
      expect(second.reply).toEqual(first.reply);
      expect(withoutDueTimes(second.dump)).toEqual(withoutDueTimes(first.dump));
    }
  },
);

test('sweep of a due handoff: a second execution changes nothing', async () => {
  await (await session.startRun()).handOff(['bob#1'], { max: 2, timeoutMs: 50_000 });
  await session.wake('bob#1');
  const pairs = resendScripts(session.redis, session.prefix);
  await session.fire('bob#1', 'handoff');
  const [first, second] = pairs[0] ?? [];
  expect(withoutDueTimes(second?.dump ?? {})).toEqual(withoutDueTimes(first?.dump ?? {}));
  expect(await session.events('hs')).toHaveLength(1);
});

test.each([
  ['job', { epoch: 1, state: 'missing' } as const],
  ['lease', undefined],
  ['wait', undefined],
])(
  'sweep of a due %s: a second execution changes nothing; what it does not name again stays due',
  async (kind, job) => {
    if (kind === 'job') await session.ask();
    else {
      const lead = await session.startRun();
      await lead.send('alice', 'task');
      if (kind === 'wait') await lead.park();
      await session.setSession('progressAt', 0);
    }
    await session.redis.zadd(session.dueKey, 'XX', 0, `${session.id}|${LEAD}|${kind}`);
    const pairs = resendScripts(session.redis, session.prefix);
    await session.due.sweep({ sessionId: session.id, agent: LEAD, kind: kind as 'job' }, times, job);
    const [first, second] = pairs[0] ?? [];
    expect(second?.dump).toEqual(first?.dump);
    if (kind !== 'wait') expect(await session.dueKinds(LEAD)).toContain('job');
  },
);

test('a cancel that is sent again does not cancel what was begun since', async () => {
  await session.send(LEAD, 'alice', 'task');
  const evalsha = session.redis.evalsha.bind(session.redis) as (...args: unknown[]) => Promise<unknown>;
  let sent: unknown[] = [];
  session.redis.evalsha = ((...args: unknown[]) => {
    sent = args;
    return evalsha(...args);
  }) as never;
  await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
  const [, ...args] = sent;
  const { msgId } = await session.send(LEAD, 'alice', 'task');
  await (session.redis.eval as (...all: unknown[]) => Promise<unknown>).call(session.redis, SCRIPTS.cancel, ...args);
  expect(Object.keys(await session.records('tasks'))).toEqual([msgId]);
});
