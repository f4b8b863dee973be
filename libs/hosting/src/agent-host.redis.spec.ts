import { LEAD, type Logger } from '@mailroom/contracts';
import type { Mailbox } from '@mailroom/mailbox';
import {
  askerOf,
  type HarnessOptions,
  latch,
  mailId,
  send,
  story,
  TeamHarness,
  textOf,
  wait,
} from '@mailroom/runtime/testing';
import { testRedis } from '@mailroom/tools';
import { AgentHost } from './agent-host';

const redis = testRedis();
const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
let harness: TeamHarness;
let hosts: AgentHost[];
let runs: Promise<void>[];
afterEach(async () => {
  await harness.mailbox.closeSession(harness.sessionId);
  await Promise.all(hosts.map((host) => host.stop()));
  await harness.close();
});

/** A lead with as much room as it wants, and its team on hosts of this capacity. */
async function start(options: Omit<HarnessOptions, 'redis'>, capacity: number, count = 1): Promise<void> {
  harness = await TeamHarness.start({ redis, ...options, settings: { idleMs: 60_000, ...options.settings } });
  const host = (size: number) =>
    new AgentHost(harness.mailbox, harness.runDeps(), { capacity: size, leaseMs: 100 }, logger);
  const leads = host(10);
  const team = Array.from({ length: count }, () => host(capacity));
  hosts = [leads, ...team];
  runs = [];
  harness.process = (job) => {
    const run = (job.agent === LEAD ? leads : (team[runs.length % count] ?? leads)).process(job);
    if (job.agent !== LEAD) runs.push(run);
    return run;
  };
}

test('a full process lets the longest-idle agent go when a job waits, and that agent comes back with its memory', async () => {
  const held = latch();
  await start(
    {
      answer: story({
        lead: [
          { calls: [send('alice', 'task', 'one'), wait] },
          { calls: [send('bob', 'task', 'two'), wait] },
          (request) => ({
            calls: [send('alice', 'clarify_resp', 'yes', mailId(request, 'alice', 'clarify')), wait],
            after: held.opened,
          }),
          { text: 'end' },
        ],
        alice: [
          { calls: [send('lead', 'clarify', 'may I?')] },
          (request) => ({ text: `asked ${textOf(request).includes('queued for lead')}` }),
        ],
        bob: [{ text: 'found' }],
      }),
    },
    1,
  );
  const runId = await harness.ask('go');
  await harness.until(({ event, agentId }) => event === 'ar' && agentId === 'bob');
  held.open();
  expect((await harness.settled(runId)).status).toBe('completed');
  const events = await harness.until(({ event }) => event === 'done');
  expect(events.filter(({ event }) => event === 'ax').map(({ agentId, data }) => `${agentId} ${data.reason}`)).toEqual([
    'alice evicted',
    'bob completed',
    'alice completed',
  ]);
  expect(events.find(({ event, agentId }) => event === 'ar' && agentId === 'alice')?.data.content).toBe('asked true');
});

test('a job that finds only working agents waits for one that ends', async () => {
  const held = latch();
  await start(
    {
      answer: story({
        lead: [
          { calls: [send('alice', 'task', 'one'), send('bob', 'task', 'two'), wait] },
          { text: 'wait' },
          { text: 'end' },
        ],
        alice: [{ text: 'a', after: held.opened }],
        bob: [{ text: 'b' }],
      }),
    },
    1,
  );
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  await harness.until(({ event, data }) => event === 'rs' && data.status === 'waiting');
  expect(hosts[1]?.load).toEqual({ hosted: 1, idle: 0, capacity: 1 });
  held.open();
  expect((await harness.settled(runId)).status).toBe('completed');
});

test('an agent that begins to idle while a job waits makes room for it', async () => {
  const held = latch();
  await start(
    {
      answer: story({
        lead: [
          { calls: [send('alice', 'task', 'one'), send('bob', 'task', 'two'), wait] },
          { calls: [wait] },
          { calls: [wait] },
          { text: 'end' },
        ],
        alice: [{ calls: [send('lead', 'clarify', 'may I?')], after: held.opened }, { text: 'a' }],
        bob: [{ text: 'b' }],
      }),
    },
    1,
  );
  await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  held.open();
  const events = await harness.until(({ event, agentId }) => event === 'ar' && agentId === 'bob');
  expect(events.find(({ event }) => event === 'ax')).toMatchObject({ agentId: 'alice', data: { reason: 'evicted' } });
});

test('a cancel whose hint was lost is noticed at the next heartbeat, and aborts the model call', async () => {
  const never = latch();
  await start({ answer: story({ lead: [{ text: 'x', after: never.opened }] }) }, 1);
  await harness.ask('go');
  const request = await harness.model.seen((each) => askerOf(each) === LEAD);
  harness.deafen();
  await harness.mailbox.cancelRun(harness.sessionId, 'enough');
  await harness.model.dropped(request);
  never.open();
});

test('stopping a host in the middle of a step lets the step end, and another host goes on', async () => {
  const held = latch();
  await start(
    {
      answer: story({
        lead: [{ calls: [send('alice', 'task', 'one'), wait] }, { text: 'end' }],
        alice: [{ calls: [{ name: 'current_time', args: {} }], after: held.opened }, { text: 'done' }],
      }),
    },
    5,
    2,
  );
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  const stopped = hosts[1]?.stop();
  held.open();
  await stopped;
  expect((await harness.settled(runId)).status).toBe('completed');
  const events = await harness.until(({ event }) => event === 'done');
  expect(
    events.filter(({ event, agentId }) => event === 'ax' && agentId === 'alice').map(({ data }) => data.reason),
  ).toEqual(['released', 'completed']);
  expect(harness.model.requests.filter((request) => askerOf(request) === 'alice')).toHaveLength(2);
});

test('a host notices at its next heartbeat that an agent of its was taken over, and drops it without a write', async () => {
  const held = latch();
  await start(
    {
      answer: (request) => {
        if (askerOf(request) === LEAD)
          return textOf(request).includes('queued') ? { text: 'end' } : { calls: [send('alice', 'task', 'one'), wait] };
        // The first of alice's calls is the zombie's.
        return harness.model.requests.filter((each) => askerOf(each) === 'alice').length === 1
          ? { text: 'zombie', after: held.opened }
          : { text: 'heir' };
      },
      settings: { leaseMs: 0 },
    },
    5,
    2,
  );
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  await harness.due.sweep(
    { sessionId: harness.sessionId, agent: 'alice', kind: 'lease' },
    { againMs: 1_000, unclaimedMs: 1_000 },
  );
  await harness.settled(runId);
  hosts[1]?.start();
  await runs[0];
  held.open();
  const events = await harness.until(({ event }) => event === 'done');
  expect(events.filter(({ event }) => event === 'ar').map(({ data }) => data.content)).toEqual(['heir']);
});

test('an agent that leaves while its lease is being renewed does not count as one that makes room', async () => {
  const [renewing, left] = [latch(), latch()];
  await start(
    {
      answer: story({
        lead: [
          { calls: [send('alice', 'task', 'one'), wait] },
          { calls: [send('bob', 'task', 'two'), wait], after: left.opened },
          { calls: [send('alice', 'task', 'three'), wait] },
          { text: 'end' },
        ],
        alice: [{ text: 'a', after: renewing.opened }, { text: 'again' }],
        bob: [{ calls: [send('lead', 'clarify', 'may I?')] }],
      }),
    },
    1,
  );
  const renewLeases: Mailbox['renewLeases'] = async (leases, leaseMs) => {
    renewing.open();
    await runs[0];
    const states = await harness.mailbox.renewLeases(leases, leaseMs);
    setImmediate(left.open);
    return states;
  };
  const mailbox: Mailbox = Object.assign(Object.create(harness.mailbox), { renewLeases });
  const host = new AgentHost(mailbox, harness.runDeps(), { capacity: 1, leaseMs: 100 }, logger);
  hosts.push(host);
  harness.process = (job) => {
    const run = (job.agent === LEAD ? (hosts[0] as AgentHost) : host).process(job);
    if (job.agent !== LEAD) runs.push(run);
    return run;
  };
  host.start();
  await harness.ask('go');
  const events = await harness.until(({ event, data }) => event === 'ar' && data.content === 'again');
  expect(events.find(({ event, agentId }) => event === 'ax' && agentId === 'bob')?.data.reason).toBe('evicted');
});
