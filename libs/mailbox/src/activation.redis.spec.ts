import { LEAD, type MailEntry } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import type { Fence, Lease } from './lease';
import { BenchSession } from './testing/bench-session';
import type { LoadedAgent } from './testing/loaded-agent';

const redis = testRedis();
let session: BenchSession;
beforeEach(async () => {
  session = await BenchSession.open({ redis });
});
afterEach(() => session.close());

/** A refused write: its code, and that nothing was written. */
async function refused(write: () => Promise<unknown>): Promise<unknown> {
  const before = await session.dump();
  const code = await write().then(
    () => 'accepted',
    (error: { code?: unknown }) => error.code,
  );
  expect(await session.dump()).toEqual(before);
  return code;
}
const nothing = { entries: [], events: [], sends: [], park: 'no' } as const;

describe('claim', () => {
  test('loads a scheduled agent once; a stale epoch or a second claim gets nothing', async () => {
    await session.ask();
    const { mailbox, id } = session;
    const job = { sessionId: id, agent: LEAD, epoch: 1 };
    expect(await mailbox.claim({ ...job, epoch: 2 }, { token: 'a', host: 'host', leaseMs: 1_000 })).toBeUndefined();
    expect(await mailbox.claim(job, { token: 'a', host: 'host', leaseMs: 1_000 })).toEqual({
      lease: { ...job, token: 'a' },
      space: 'default',
      budgeted: false,
      leadAgentId: 'boss',
      roster: [
        { as: 'alice', agent: 'alice' },
        { as: 'bob', agent: 'bob' },
      ],
    });
    expect(await mailbox.claim(job, { token: 'b', host: 'host', leaseMs: 1_000 })).toBeUndefined();
    expect(await session.agent(LEAD)).toMatchObject({ st: 'loaded', token: 'a' });
    expect(await session.dueKinds(LEAD)).toEqual(['lease']);
  });

  test('of an agent that nobody wrote to, or of a session that is not there, gets nothing', async () => {
    expect(
      await session.mailbox.claim(
        { sessionId: session.id, agent: 'bob', epoch: 0 },
        { token: 'a', host: 'h', leaseMs: 1 },
      ),
    ).toBeUndefined();
    expect(
      await session.mailbox.claim(
        { sessionId: 'ses_none', agent: 'bob', epoch: 0 },
        { token: 'a', host: 'h', leaseMs: 1 },
      ),
    ).toBeUndefined();
  });

  test('R11: there is one as for each load and one ax for each exit of a sub-agent, and none of the lead', async () => {
    const lead = await session.startRun();
    await lead.send('alice', 'task');
    await (await session.load('alice')).release();
    const alice = await session.wake('alice');
    await alice.say('done');
    const seen = (await session.events()).filter(({ code }) => code === 'as' || code === 'ax');
    expect(seen.map(({ code, agent, data }) => [code, agent, data.epoch, data.reload ?? data.reason])).toEqual([
      ['as', 'alice', 1, false],
      ['ax', 'alice', 1, 'released'],
      ['as', 'alice', 2, true],
      ['ax', 'alice', 2, 'completed'],
    ]);
  });
});

describe('drain', () => {
  test('moves all mail into one journal entry and counts the model call that it makes necessary', async () => {
    const sent = [await session.ask(), await session.ask()];
    const lead = await session.wake(LEAD);
    expect(lead.inbox).toMatchObject({ tail: 'model', work: true, step: 0, tries: 1, runId: sent[0]?.runId });
    expect(lead.inbox?.entries).toEqual([{ kind: 'mail', ids: sent.map(({ msgId }) => msgId) }]);
    expect([...(lead.inbox?.messages.keys() ?? [])]).toEqual(sent.map(({ msgId }) => msgId));
    expect(await session.mail(LEAD)).toEqual([]);
    expect(await session.session()).toMatchObject({ calls: '1', runStatus: 'running' });
  });

  test('returns the journal from the entry on that the host does not know', async () => {
    const lead = await session.startRun();
    await lead.commit({ entries: [{ kind: 'engine', code: 'nudge', text: 'more' }] });
    const inbox = await session.mailbox.readInbox(lead.lease, 1);
    expect(inbox.entries).toEqual([{ kind: 'engine', code: 'nudge', text: 'more' }]);
    expect(inbox.messages.size).toBe(0);
  });

  test('R8: takes mail that came while the agent worked, but not between a tool call and its result', async () => {
    const lead = await session.startRun();
    await lead.step({ open: ['t1'] });
    const { msgId } = await session.ask();
    expect((await lead.read()).tail).toBe('tools');
    expect(await session.mail(LEAD)).toEqual([`u${msgId}`]);
    await lead.commit({ entries: [{ kind: 'tool', callId: 't1', content: 'x' }], closes: 't1' });
    expect((await lead.read()).entries.at(-1)).toEqual({ kind: 'mail', ids: [msgId] });
  });

  test('takes at most 1 MB at a time, and the rest with the next drain', async () => {
    const content = 'x'.repeat(60_000);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await session.ask({ content })).msgId);
    const lead = await session.wake(LEAD);
    expect(lead.inbox?.work).toBe(true);
    const [first = []] = (lead.inbox?.entries ?? []).map((entry) => (entry as MailEntry).ids);
    expect(first.length).toBeLessThan(20);
    expect(first.length).toBeGreaterThan(15);
    await lead.read();
    expect(await session.read(LEAD)).toEqual(ids);
    expect(await session.agent(LEAD)).toMatchObject({ wake: '0', urgent: '0' });
  });

  test('R9: mail that does not wake causes no model call, and is read with the next that does', async () => {
    await session.ask();
    const task = await session.send(LEAD, 'alice', 'task');
    const alice = await session.wake('alice');
    await alice.send('bob', 'clarify', undefined, { park: 'if_done' });
    await session.send('bob', 'alice', 'progress');
    expect(await alice.read()).toMatchObject({ tail: 'idle', work: false });
    expect(await session.mail('alice')).toHaveLength(1);
    await session.send('bob', 'alice', 'clarify_resp');
    expect(await alice.read()).toMatchObject({ tail: 'model', work: true });
    expect(await session.read('alice')).toHaveLength(3);
    expect(alice.inbox?.tasks).toMatchObject([{ id: task.msgId, read: true }]);
  });

  test('R21: a step that is begun again is not counted again, its tries are', async () => {
    const lead = await session.startRun();
    expect((await lead.read()).tries).toBe(2);
    await lead.release();
    const next = await session.wake(LEAD);
    expect(next.inbox?.tries).toBe(3);
    expect(await session.session()).toMatchObject({ calls: '1' });
    await next.park();
    await session.ask();
    expect((await next.read()).tries).toBe(1);
    expect(await session.session()).toMatchObject({ calls: '2' });
  });

  test.each<[string, (lead: LoadedAgent) => Promise<unknown>]>([
    ['failed', (lead) => lead.commit({ settle: { status: 'failed', force: true, text: '' }, park: 'yes' })],
    ['was cancelled', () => session.mailbox.cancelRun(session.id, 'enough')],
  ])('R21: a call that %s stays counted, and the next one is counted too', async (_, end) => {
    const lead = await session.startRun();
    await end(lead);
    await session.ask();
    await lead.read();
    expect(await session.session()).toMatchObject({ calls: '2' });
  });
});

describe('the fence', () => {
  let alice: LoadedAgent;
  let fence: Fence;
  beforeEach(async () => {
    await session.send(LEAD, 'alice', 'task');
    alice = await session.wake('alice');
    fence = alice.fence;
  });

  const writes: [string, (changed: Partial<Fence>) => Promise<unknown>][] = [
    ['commit', (changed) => session.mailbox.commit({ ...fence, ...changed }, nothing)],
    ['emit', (changed) => session.mailbox.emit({ ...fence, ...changed }, 1, [{ code: 't', data: {} }])],
    ['drain', (changed) => session.mailbox.readInbox({ ...fence, ...changed }, 0)],
    ['exit', (changed) => session.mailbox.exit({ ...fence, ...changed }, 'idle_timeout')],
    ['release', (changed) => session.mailbox.release({ ...fence, ...changed }, 'released')],
  ];

  test.each(writes)(
    'refuses a %s of another epoch, of another token, and of an earlier activation',
    async (_, write) => {
      expect(await refused(() => write({ epoch: 2 }))).toBe('lease_lost');
      expect(await refused(() => write({ token: 'forged' }))).toBe('lease_lost');
      await session.fire('alice', 'lease');
      expect(await refused(() => write({}))).toBe('lease_lost');
      await session.wake('alice');
      expect(await refused(() => write({}))).toBe('lease_lost');
      expect(await refused(() => write({ epoch: 2 }))).toBe('lease_lost');
    },
  );

  test.each(writes)('refuses a %s in a session that has ended', async (_, write) => {
    await session.mailbox.closeSession(session.id);
    expect(await refused(() => write({}))).toBe('session_closed');
  });

  test.each(writes.slice(0, 2))('refuses a %s of somebody who has not seen a cancel', async (_, write) => {
    await session.ask();
    await session.mailbox.cancelRun(session.id, 'enough');
    await alice.read();
    const { sessionCancel, agentCancel } = alice.fence;
    expect(await refused(() => write({ sessionCancel, agentCancel: agentCancel - 1 }))).toBe('cancelled');
    expect(await refused(() => write({ sessionCancel: sessionCancel - 1, agentCancel }))).toBe('cancelled');
    await write({ sessionCancel, agentCancel });
  });

  test('refuses a commit under a number that is not the next', async () => {
    expect(await refused(() => session.mailbox.commit({ ...fence, n: 1 }, nothing))).toBe('out_of_step');
    await session.mailbox.commit(fence, nothing);
    await session.mailbox.commit({ ...fence, n: 1 }, nothing);
    expect(await refused(() => session.mailbox.commit(fence, nothing))).toBe('out_of_step');
  });
});

describe('commit', () => {
  test('writes journal, usage, events and messages together, the outcome of each send into the journal', async () => {
    const lead = await session.startRun();
    const sent = await lead.send('alice', 'task');
    const lost = await lead.send('zed', 'task');
    expect(sent).toEqual({
      kind: 'sent',
      callId: sent.callId,
      code: 'ok',
      msgId: sent.msgId,
      to: 'alice',
      type: 'task',
    });
    expect(lost).toMatchObject({ code: 'unknown_recipient', to: 'zed' });
    expect(await session.agent(LEAD)).toMatchObject({ n: '2', step: '2', used: '2', input: '20', output: '10' });
    expect(await session.session()).toMatchObject({ used: '2', input: '20', output: '10' });
    expect(
      (await session.events()).slice(2).map(({ code, data }) => [code, data.outcome ?? data.code ?? data.type]),
    ).toEqual([
      ['rs', undefined],
      ['am', 'task'],
      ['tr', sent.msgId],
      ['tr', 'unknown_recipient'],
      ['ae', 'unknown_recipient'],
    ]);
    expect(session.activations.map(({ agent }) => agent)).toEqual([LEAD, 'alice']);
  });

  test('R3: the same message id in two sends of a step is one message', async () => {
    const lead = await session.startRun();
    const send = { callId: 'c', msgId: 'msg_00000000aaaa', to: 'alice', type: 'task', content: 'twice' };
    await lead.step({ sends: [send, send] });
    expect(await session.mail('alice')).toEqual(['wmsg_00000000aaaa']);
    expect((await session.messages()).filter(({ type }) => type === 'task')).toHaveLength(2);
  });

  test('R9: a refused send keeps the agent at work, whatever it wanted', async () => {
    const lead = await session.startRun();
    await lead.send('zed', 'task', undefined, { park: 'yes' });
    expect(await session.agent(LEAD)).toMatchObject({ tail: 'model' });
    expect(await lead.exit()).toBe(false);
  });

  test('R9: a step whose only calls were a clarify or the last result parks a sub-agent', async () => {
    await session.ask();
    await session.send(LEAD, 'alice', 'task');
    await session.send(LEAD, 'alice', 'task');
    const alice = await session.wake('alice');
    const [one, two] = alice.inbox?.tasks ?? [];
    await alice.send(LEAD, 'result', one?.id, { park: 'if_done' });
    expect(await session.agent('alice')).toMatchObject({ st: 'loaded', tail: 'model' });
    await alice.send(LEAD, 'clarify', two?.id, { park: 'if_done' });
    expect(await session.agent('alice')).toMatchObject({ st: 'loaded', tail: 'idle' });
    await session.send(LEAD, 'alice', 'clarify_resp');
    await alice.read();
    await alice.send(LEAD, 'result', two?.id, { park: 'if_done' });
    expect(await session.agent('alice')).toMatchObject({ st: 'unloaded', tail: 'idle' });
  });

  test('tool calls stay open until each has its result', async () => {
    const lead = await session.startRun();
    await lead.step({ open: ['a', 'b'] });
    expect((await lead.read()).openCalls).toEqual(['a', 'b']);
    await lead.commit({ closes: 'b' });
    expect(await session.agent(LEAD)).toMatchObject({ tail: 'tools', calls: '["a"]' });
    expect(await lead.exit()).toBe(false);
    await lead.commit({ closes: 'a' });
    expect(await lead.read()).toMatchObject({ tail: 'model', openCalls: [] });
  });

  test('R14: an answer with no task open and no waking mail ends the run, with done once', async () => {
    const lead = await session.startRun();
    expect(await lead.say('the answer')).toEqual({ work: false, settled: true });
    expect(await session.run(lead.inbox?.runId ?? '')).toMatchObject({
      status: 'completed',
      answer: '{"text":"the answer"}',
    });
    expect(await session.session()).toMatchObject({ run: '', runStatus: '' });
    expect((await session.events('done')).map(({ data }) => data)).toEqual([
      { status: 'completed', text: 'the answer' },
    ]);
    expect(await session.dueKinds(LEAD)).toEqual(['lease']);
  });

  test('R14: an answer while a task is open or waking mail waits is interim', async () => {
    const lead = await session.startRun();
    await session.ask();
    expect(await lead.say('too early')).toEqual({ work: true, settled: false });
    await lead.read();
    await lead.send('alice', 'task');
    expect(await lead.say('still too early')).toEqual({ work: false, settled: false });
    expect(await session.session()).toMatchObject({ runStatus: 'waiting' });
    expect(await session.dueKinds(LEAD)).toEqual(['lease', 'wait']);
  });
});

describe('exit and release', () => {
  test('exit is refused while there is work, so that no wake-up is lost', async () => {
    const lead = await session.startRun();
    expect(await lead.exit()).toBe(false);
    await lead.send('alice', 'task');
    await lead.park();
    await session.ask();
    expect(await lead.exit()).toBe(false);
    expect(await session.agent(LEAD)).toMatchObject({ st: 'loaded' });
    await lead.read();
    await lead.park();
    expect(await lead.exit()).toBe(true);
    expect(await session.agent(LEAD)).toMatchObject({ st: 'unloaded' });
    expect(await session.dueKinds(LEAD)).toEqual(['wait']);
  });

  test('release hands work over under a new epoch, and unloads an idle agent', async () => {
    const lead = await session.startRun();
    await lead.release();
    expect(await session.agent(LEAD)).toMatchObject({ st: 'scheduled', epoch: '2' });
    expect(session.activations.at(-1)).toMatchObject({ agent: LEAD, epoch: 2 });
    const next = await session.wake(LEAD);
    await next.send('alice', 'task');
    await next.park();
    await next.release('evicted');
    expect(await session.agent(LEAD)).toMatchObject({ st: 'unloaded', epoch: '2' });
  });

  test('after a cancel the agent leaves, but not if it was given a new task since', async () => {
    await session.send(LEAD, 'alice', 'task');
    const alice = await session.wake('alice');
    await session.mailbox.cancelAgent(session.id, 'alice', 'enough');
    expect((await alice.read()).leave).toBe('cancelled');
    await session.send(LEAD, 'alice', 'task');
    expect((await alice.read()).leave).toBeUndefined();
    await alice.send(LEAD, 'clarify', undefined, { park: 'if_done' });
    expect((await alice.read()).leave).toBeUndefined();
  });

  test('renewing a lease moves it on while it is held, tells of work, of a cancel, and of its loss', async () => {
    const lead = await session.startRun();
    await session.send(LEAD, 'alice', 'task');
    const alice = await session.load('alice');
    await lead.send('bob', 'task');
    const bob = await session.wake('bob');
    await bob.send(LEAD, 'clarify', undefined, { park: 'if_done' });
    const before = (await session.dueAt('bob', 'lease')) ?? 0;
    const renew = (...leases: Lease[]) =>
      session.mailbox.renewLeases(
        leases.map((lease) => ({ ...lease, agentCancel: 0 })),
        120_000,
      );
    expect(await renew(alice.lease, bob.lease, { ...lead.lease, token: 'old' })).toEqual(['work', 'quiet', 'lost']);
    expect(await session.dueAt('bob', 'lease')).toBeGreaterThan(before + 50_000);
    await session.mailbox.cancelAgent(session.id, 'bob', 'enough');
    expect(await renew(bob.lease)).toEqual(['cancelled']);
  });
});
