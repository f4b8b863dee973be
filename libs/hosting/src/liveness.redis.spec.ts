import { activationJob, LEAD, LEAD_QUEUE, type Logger, SUB_AGENT_QUEUE } from '@mailroom/contracts';
import { connect } from '@mailroom/mailbox';
import {
  type HarnessOptions,
  latch,
  type ModelRequestBody,
  mailId,
  send,
  story,
  TeamHarness,
  textOf,
  wait,
} from '@mailroom/runtime/testing';
import { testRedis } from '@mailroom/tools';
import { Queue, Worker } from 'bullmq';
import { ActivationQueue } from './activation-queue';
import { AgentHost } from './agent-host';
import { queueOptions, workerOptions, workerSizes } from './queue-options';

const { url, prefix } = testRedis();
const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const connection = connect({ url, name: 'test-jobs', mood: 'patient' });
const leads = new Queue(LEAD_QUEUE, { ...queueOptions(prefix), connection });
const subAgents = new Queue(SUB_AGENT_QUEUE, { ...queueOptions(prefix), connection });
let harness: TeamHarness;
let hosts: AgentHost[];
let workers: Worker[];
afterEach(async () => {
  await harness.mailbox.closeSession(harness.sessionId);
  await Promise.all(hosts.map((host) => host.stop()));
  await Promise.all(workers.map((worker) => worker.close()));
  await harness.close();
});
afterAll(async () => {
  await Promise.all([leads.close(), subAgents.close()]);
  connection.disconnect();
});

/** A deployment with BullMQ between send and load: one host for leads, one of this capacity for their team. */
async function deploy(options: Omit<HarnessOptions, 'redis'>, capacity: number, leaseMs = 60_000): Promise<void> {
  harness = await TeamHarness.start({
    redis: { url, prefix },
    ...options,
    settings: { idleMs: 600_000, ...options.settings },
  });
  const activations = new ActivationQueue({ [LEAD_QUEUE]: leads, [SUB_AGENT_QUEUE]: subAgents }, logger);
  harness.process = async (job) => activations.enqueue(job);
  const host = (size: number) => new AgentHost(harness.mailbox, harness.runDeps(), { capacity: size, leaseMs }, logger);
  hosts = [host(10), host(capacity)];
  workers = [LEAD_QUEUE, SUB_AGENT_QUEUE].flatMap((queue, i) =>
    workerSizes(hosts[i]?.load.capacity ?? 1).map(
      (size) =>
        new Worker(queue, (job) => (hosts[i] as AgentHost).process(activationJob.parse(job.data)), {
          ...workerOptions(prefix, size),
          connection,
        }),
    ),
  );
}
/** Resolves when so many events of a kind have been written. */
const untilCount = (code: string, count: number) => {
  let seen = 0;
  return harness.until(({ event }) => event === code && ++seen === count);
};
/** Resolves when the lead has left its host. */
const leadLeft = () => new Promise((resolve) => workers[0]?.once('completed', resolve));

test('work that waits is done while every slot is taken by agents that idle, and these come back with their memory', async () => {
  const askers = ['ann', 'ben', 'cid'];
  const others = ['dan', 'eve', 'fay', 'gus'];
  const [allAsked, allFound] = [latch(), latch()];
  const answerTo = (request: ModelRequestBody) => (name: string) =>
    send(name, 'clarify_resp', '2024', mailId(request, name, 'clarify'));
  await deploy(
    {
      team: [...askers, ...others],
      answer: story({
        lead: [
          { calls: [...askers.map((name) => send(name, 'task', 'one')), wait] },
          { calls: [...others.map((name) => send(name, 'task', 'two')), wait], after: allAsked.opened },
          (request) => ({ calls: [...askers.map(answerTo(request)), wait], after: allFound.opened }),
          ...Array.from({ length: 7 }, () => ({ text: 'end' })),
        ],
        ...Object.fromEntries(
          askers.map((name) => [
            name,
            [
              { calls: [send(LEAD, 'clarify', 'which year?')] },
              (request: ModelRequestBody) => ({ text: `asked ${textOf(request).includes('queued for lead')}` }),
            ],
          ]),
        ),
        ...Object.fromEntries(others.map((name) => [name, [{ text: 'found' }]])),
      }),
    },
    askers.length,
  );
  const runId = await harness.ask('go');
  await untilCount('ac', askers.length);
  expect(hosts[1]?.load).toMatchObject({ hosted: askers.length });
  allAsked.open();
  await untilCount('ar', others.length);
  allFound.open();
  expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'end' });
  const events = await harness.until(({ event }) => event === 'done');
  const results = events.filter(({ event }) => event === 'ar').map(({ data }) => `${data.from} ${data.content}`);
  expect(results.slice(0, others.length).sort()).toEqual(others.map((name) => `${name} found`));
  expect(results.slice(others.length).sort()).toEqual(askers.map((name) => `${name} asked true`));
  expect(events.filter(({ event, data }) => event === 'ax' && data.reason === 'evicted').length).toBeGreaterThan(0);
});

test('R17: a lead whose run failed with mail unread leaves when its time is over, however often its host looks', async () => {
  const held = latch();
  await deploy(
    {
      answer: story({
        lead: [{ calls: [send('alice', 'task', 'one')] }, { status: 400, after: held.opened }],
        alice: [{ calls: [send(LEAD, 'clarify', 'which year?')] }],
      }),
      settings: { idleMs: 120 },
    },
    5,
    60,
  );
  hosts[0]?.start();
  const runId = await harness.ask('go');
  await harness.until(({ event }) => event === 'ac');
  held.open();
  expect(await harness.settled(runId)).toMatchObject({ status: 'failed' });
  await leadLeft();
});

test('R14: a lead that waits for all leaves when its time is over, also when results wait for it', async () => {
  const held = latch();
  await deploy(
    {
      answer: story({
        lead: [{ calls: [send('alice', 'task', 'one'), send('bob', 'task', 'two'), wait] }, { text: 'end' }],
        bob: [{ text: 'found', after: held.opened }],
      }),
      settings: { idleMs: 120, modelSilenceMs: 600_000, modelCallMs: 600_000 },
      session: { wakeOn: 'all' },
    },
    5,
    60,
  );
  hosts[0]?.start();
  const runId = await harness.ask('go');
  await harness.until(({ event }) => event === 'ar');
  await leadLeft();
  held.open();
  expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'end' });
});
