import {
  type ActivationJob,
  activationJobId,
  LEAD,
  LEAD_QUEUE,
  type Logger,
  SUB_AGENT_QUEUE,
} from '@mailroom/contracts';
import { connect, DueIndex, RedisMailbox } from '@mailroom/mailbox';
import { testRedis } from '@mailroom/tools';
import { Queue, Worker } from 'bullmq';
import { ActivationQueue } from './activation-queue';
import { queueOptions, workerOptions } from './queue-options';
import { Sweeper } from './sweeper';

const { url, prefix } = testRedis();
const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const redis = connect({ url, name: 'test', mood: 'patient' });
const jobs = connect({ url, name: 'test-jobs', mood: 'patient' });
const leads = new Queue(LEAD_QUEUE, { ...queueOptions(prefix), connection: jobs });
const subAgents = new Queue(SUB_AGENT_QUEUE, { ...queueOptions(prefix), connection: jobs });
const activations = new ActivationQueue({ [LEAD_QUEUE]: leads, [SUB_AGENT_QUEUE]: subAgents }, logger);
let scheduled: ActivationJob[];
const options = { prefix, activate: (job: ActivationJob) => scheduled.push(job) };
const mailbox = new RedisMailbox(redis, options);
const index = new DueIndex(redis, options);
const sweeper = new Sweeper(index, activations, { everyMs: 60_000, unclaimedMs: 0 }, logger);

let sessions = 0;
let sessionId: string;
beforeEach(async () => {
  scheduled = [];
  sessionId = `ses_${prefix}${++sessions}`;
  const settings = { jobMs: 0 };
  await mailbox.openSession({
    id: sessionId,
    space: 'default',
    leadAgentId: 'boss',
    roster: [],
    metadata: {},
    fingerprint: '',
    settings,
  });
  await mailbox.send(sessionId, { from: 'user', to: LEAD, type: 'task', content: 'go' });
});
afterEach(() => mailbox.closeSession(sessionId));
afterAll(async () => {
  await Promise.all([leads.close(), subAgents.close()]);
  redis.disconnect();
  jobs.disconnect();
});

const first = () => ({ sessionId, agent: LEAD, epoch: 1 });

test('an activation that never reached the queue is made again with a new epoch', async () => {
  expect(scheduled).toEqual([first()]);
  await sweeper.tick();
  expect(scheduled).toEqual([first(), { ...first(), epoch: 2 }]);
});

test('an activation whose job waits is left', async () => {
  await leads.add('activate', first(), { jobId: activationJobId(first()) });
  await sweeper.tick();
  expect(scheduled).toEqual([first()]);
  expect(await index.scheduledEpoch({ sessionId, agent: LEAD, kind: 'job' })).toBe(1);
  await leads.remove(activationJobId(first()));
});

test('an activation whose job is active but never claimed is made again, and the late claim is stale', async () => {
  await leads.add('activate', first(), { jobId: activationJobId(first()) });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let started = (): void => undefined;
  const isActive = new Promise<void>((resolve) => {
    started = resolve;
  });
  const worker = new Worker(
    LEAD_QUEUE,
    async () => {
      started();
      await held;
    },
    { ...workerOptions(prefix, 1), connection: jobs },
  );
  await isActive;
  await sweeper.tick();
  expect(scheduled.at(-1)).toEqual({ ...first(), epoch: 2 });
  expect(await mailbox.claim(first(), { token: 'late', host: 'host', leaseMs: 60_000 })).toBeUndefined();
  expect(await mailbox.claim({ ...first(), epoch: 2 }, { token: 'next', host: 'host', leaseMs: 60_000 })).toBeDefined();
  release();
  await worker.close();
});

test('a claimed activation is not touched while its lease holds', async () => {
  await mailbox.claim(first(), { token: 'token', host: 'host', leaseMs: 60_000 });
  await sweeper.tick();
  expect(scheduled).toEqual([first()]);
});

test('an agent whose process died is activated again when its lease has run out', async () => {
  await mailbox.claim(first(), { token: 'token', host: 'host', leaseMs: 0 });
  await sweeper.tick();
  expect(scheduled.at(-1)).toEqual({ ...first(), epoch: 2 });
});

test('ticks are made by one scheduler, however many processes ask for it', async () => {
  const ticks = new Queue('sweeper', { ...queueOptions(prefix), connection: jobs });
  await Promise.all([sweeper.schedule(ticks), sweeper.schedule(ticks)]);
  expect(await ticks.getJobSchedulersCount()).toBe(1);
  await ticks.close();
});
