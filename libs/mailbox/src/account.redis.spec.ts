import { type CallRecord, LEAD, LIMITS, type UsageRow } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { Accounts } from './accounts';
import type { SessionSettings } from './mailbox';
import { SessionReader } from './session-reader';
import { BenchSession } from './testing/bench-session';
import type { LoadedAgent } from './testing/loaded-agent';
import { usageTotals } from './usage-totals';

const redis = testRedis();
let session: BenchSession;
let lead: LoadedAgent;
let accounts: Accounts;
let reader: SessionReader;
afterEach(() => session.close());

async function start(settings: Partial<SessionSettings> = {}): Promise<void> {
  session = await BenchSession.open({ redis, settings });
  accounts = new Accounts(session.redis, session.prefix);
  reader = new SessionReader(session.redis, session.prefix);
  await reader.register('default', session.id);
  lead = await session.startRun();
}
const rows = async (): Promise<UsageRow[]> => (await accounts.ofSession('default', session.id)) ?? [];
const lost = async () => (await rows()).filter(({ status }) => status === 'lost');
const warnings = async () => (await session.events('b')).map(({ data }) => data);
/** A step of the lead that costs so much and goes on. */
async function spend(record: Partial<CallRecord>): Promise<void> {
  await lead.step({ usage: lead.call(record) });
  await lead.read();
}

describe('R21: the account of a session', () => {
  test('has one row per commit of a call, with the run and the time of Redis', async () => {
    await start();
    const call = lead.call({
      responseId: 'r"1',
      input: 100,
      output: 20,
      cached: 40,
      reasoning: 5,
      cost: 0.000123,
      latencyMs: 70,
    });
    await lead.step({ usage: call });
    await lead.read();
    await lead.say('done');
    const runId = (await session.session()).lastRun;
    const [first, second] = await rows();
    expect(first).toEqual({ sessionId: session.id, runId, at: expect.stringMatching(/^20.*Z$/), ...call });
    expect(second).toMatchObject({ runId, input: 10, output: 5 });
    expect(await rows()).toHaveLength(2);
  });

  test('comes to what session, agent and run say they have spent', async () => {
    await start();
    await spend({ input: 100, output: 20, cached: 40, reasoning: 5, cost: 0.000123 });
    await spend({ cost: 0.1 });
    await lead.send('alice', 'task');
    await lead.park();
    const alice = await session.wake('alice');
    await alice.say('found');
    const { failedCalls, lostCalls, ...totals } = usageTotals(await rows());
    expect({ failedCalls, lostCalls }).toEqual({ failedCalls: 0, lostCalls: 0 });
    expect(totals).toEqual({
      calls: 5,
      input: 140,
      output: 40,
      cached: 40,
      reasoning: 5,
      cost: 0.100123,
      unpricedCalls: 3,
    });
    const detail = await reader.detail('default', session.id);
    expect(detail?.usage).toEqual(totals);
    expect(detail?.run?.usage).toEqual(totals);
    expect(detail?.agents[1]?.usage).toEqual({ ...noCalls, calls: 1, input: 10, output: 5, unpricedCalls: 1 });
    expect(detail?.agents[2]?.usage).toEqual({ ...noCalls, cost: 0 });
  });

  test('has a row without tokens for a call that failed, which the sums leave out', async () => {
    await start();
    const { input, output, ...failed } = lead.call({ status: 'failed', attempts: 3 });
    await lead.commit({
      usage: failed,
      settle: { status: 'failed', reason: 'model_timeout', force: true, text: 'no' },
    });
    expect(await rows()).toEqual([
      { sessionId: session.id, runId: expect.any(String), at: expect.any(String), ...failed },
    ]);
    expect(await lost()).toEqual([]);
    expect((await reader.detail('default', session.id))?.usage.calls).toBe(0);
  });

  test('shows a call as lost when its host is gone, each try once', async () => {
    await start();
    await lead.send('alice', 'task');
    const alice = await session.wake('alice');
    for (let n = 1; n <= 2; n++) {
      await session.fire('alice', 'lease');
      await session.wake('alice');
      expect(await lost()).toHaveLength(n);
    }
    const [first] = await lost();
    const [taskId] = Object.keys(await session.records('tasks'));
    expect(first).toMatchObject({ agent: 'alice', instance: 'alice', taskId, step: 1 });
    expect(first).not.toHaveProperty('model');
    await expect(alice.say('too late')).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await rows()).toHaveLength(3);
  });

  test('does not take a part without a model call, or a call that was not begun, for a lost one', async () => {
    await start();
    await lead.commit({ entries: [{ kind: 'engine', code: 'limit', text: 'limit' }] });
    await lead.read();
    await session.mailbox.release(lead.lease, 'released', true);
    lead = await session.wake(LEAD);
    expect(lead.inbox).toMatchObject({ tail: 'model', tries: 1 });
    await lead.release();
    lead = await session.wake(LEAD);
    expect(lead.inbox).toMatchObject({ tail: 'model', tries: 2 });
    expect(await lost()).toMatchObject([{ instance: LEAD, agent: 'boss', step: 1 }]);
    await lead.say('done');
    expect(await rows()).toHaveLength(2);
  });

  test.each([
    ['the run is cancelled', () => session.mailbox.cancelRun(session.id, 'enough'), ['alice', LEAD]],
    ['its agent is cancelled', () => session.mailbox.cancelAgent(session.id, 'alice', 'enough'), ['alice']],
    ['the session ends', () => session.mailbox.closeSession(session.id), ['alice', LEAD]],
  ])('shows a call under way as lost when %s', async (_, act, expected) => {
    await start();
    await lead.send('alice', 'task');
    await session.wake('alice');
    await lead.read();
    const { run } = await session.session();
    await act();
    expect((await lost()).map(({ instance, runId }) => [instance, runId])).toEqual(expected.map((name) => [name, run]));
  });

  test('books what an agent spends after its run to that run', async () => {
    await start();
    await session.send('bob', 'alice', 'clarify');
    const alice = await session.wake('alice');
    await lead.say('done');
    await alice.say('an answer');
    const { lastRun = '' } = await session.session();
    expect((await rows()).map(({ instance, runId }) => [instance, runId])).toEqual([
      [LEAD, lastRun],
      ['alice', lastRun],
    ]);
    expect((await reader.run('default', session.id, lastRun))?.usage.calls).toBe(2);
  });

  test('stays readable for 90 days after the end of its session', async () => {
    await start();
    await lead.say('done');
    await session.mailbox.closeSession(session.id);
    const ttl = await session.redis.pttl(session.keys.of('usage', session.id));
    expect(ttl).toBeGreaterThan(LIMITS.usageKeepMs - 60_000);
    await session.redis.unlink(session.keys.of('session', session.id));
    expect(await rows()).toHaveLength(1);
    expect(await accounts.ofSession('other', session.id)).toBeUndefined();
  });

  test('is found in its space by the time of its rows, and the list forgets what is gone', async () => {
    await start();
    await lead.say('done');
    const [row] = await rows();
    const at = Date.parse(row?.at ?? '');
    const list = session.keys.accounts('default');
    await session.redis.zadd(list, 1, 'ses_gone', 1, session.id);
    const within = async (from: number, to: number) => {
      const found: UsageRow[] = [];
      for await (const rows of accounts.ofSpace('default', from, to)) found.push(...rows);
      return found.filter(({ sessionId }) => sessionId === session.id).length;
    };
    expect([await within(at, at + 1), await within(at + 1, at + 2), await within(at - 1, at)]).toEqual([1, 0, 0]);
    expect(await session.redis.zmscore(list, 'ses_gone', session.id)).toEqual([null, '1']);
  });
});

describe('R21: budgets', () => {
  test.each<[string, Partial<SessionSettings>]>([
    ['budget_calls', { callLimit: 2 }],
    ['budget_tokens', { tokenLimit: 200 }],
    ['budget_cost', { costLimit: 0.02 }],
    ['run_budget_calls', { runCallLimit: 2 }],
    ['run_budget_tokens', { runTokenLimit: 200 }],
    ['run_budget_cost', { runCostLimit: 0.02 }],
  ])('when it is spent the run ends clean with one more step of the lead: %s', async (reason, settings) => {
    await start(settings);
    await lead.send('alice', 'task', undefined, { usage: lead.call({ input: 90, output: 10, cost: 0.01 }) });
    await lead.read();
    expect(lead.inbox?.final).toBeUndefined();
    await spend({ input: 90, output: 10, cost: 0.01 });
    expect(lead.inbox).toMatchObject({ tail: 'model', final: reason, tasks: [] });
    expect((await lead.say('what I have')).settled).toBe(true);
    const again = session.ask();
    if (reason.startsWith('run_')) await expect(again).resolves.toMatchObject({ seq: 3 });
    else await expect(again).rejects.toMatchObject({ code: 'budget_spent' });
  });

  test('of a run is counted anew for the next one, that of the session is not', async () => {
    await start({ runCallLimit: 2, tokenLimit: 1_000 });
    await lead.say('done');
    await session.ask();
    await lead.read();
    await spend({});
    expect(lead.inbox?.final).toBeUndefined();
    await spend({});
    expect(lead.inbox?.final).toBe('run_budget_calls');
  });

  test('a sub-agent that comes to a spent budget makes no call', async () => {
    await start({ tokenLimit: 100 });
    await lead.send('alice', 'task', undefined, { usage: lead.call({ input: 100 }), park: 'yes' });
    const alice = await session.wake('alice');
    expect(alice.inbox).toMatchObject({ tail: 'idle', work: false, leave: 'cancelled', tasks: [] });
    expect(await lead.read()).toMatchObject({ final: 'budget_tokens' });
  });

  test('at 80 % there is one warning per scope and kind, of a run one per run', async () => {
    await start({ callLimit: 5, tokenLimit: 100, costLimit: 0.1, runTokenLimit: 50 });
    await spend({ input: 30, output: 9, cost: 0.079999 });
    expect(await warnings()).toEqual([]);
    await spend({ input: 1, output: 0, cost: 0.000001 });
    expect(await warnings()).toEqual([
      { scope: 'session', kind: 'cost', used: 0.08, limit: 0.1 },
      { scope: 'run', kind: 'tokens', used: 40, limit: 50 },
    ]);
    await spend({ input: 1, output: 0, cost: 0 });
    expect((await warnings()).slice(2)).toEqual([{ scope: 'session', kind: 'calls', used: 4, limit: 5 }]);
    const usage = lead.call({ input: 0, output: 0, cost: 0 });
    await lead.step({ usage, settle: { status: 'completed', force: false, text: 'done' } });
    await session.ask();
    await lead.read();
    await spend({ input: 40, output: 0, cost: 0 });
    expect((await warnings()).slice(3)).toEqual([
      { scope: 'session', kind: 'tokens', used: 81, limit: 100 },
      { scope: 'run', kind: 'tokens', used: 40, limit: 50 },
    ]);
  });

  test('of cost tells once that it cannot hold a call without a price', async () => {
    await start({ costLimit: 1 });
    await spend({ cost: 0.5 });
    await spend({});
    await spend({});
    expect(await warnings()).toEqual([{ scope: 'session', kind: 'cost', used: 0.5, limit: 1, unpriced: true }]);
    expect(lead.inbox?.final).toBeUndefined();
  });
});

const noCalls = { calls: 0, input: 0, output: 0, cached: 0, reasoning: 0, unpricedCalls: 0 };
