import type { Tool } from '@mailroom/capabilities';
import { LEAD } from '@mailroom/contracts';
import { connect } from '@mailroom/mailbox';
import { testRedis } from '@mailroom/tools';
import { z } from 'zod';
import { latch } from './testing/latch';
import { askerOf } from './testing/model-server';
import { mailId, send, story, textOf, wait } from './testing/story';
import { TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

const delegate = { calls: [send('alice', 'task', 'one'), wait] };
const end = { text: 'end' };

/** A lease that runs out as soon as it is given, for the sweeper to find. */
const shortLease = { leaseMs: 0 };

async function loseLease(agent: string): Promise<void> {
  await harness.due.sweep(
    { sessionId: harness.sessionId, agent, kind: 'lease' },
    { againMs: 1_000, unclaimedMs: 1_000 },
  );
}

test('a zombie whose lease was lost writes nothing, and its task is done once by the next activation', async () => {
  const held = latch();
  let first = true;
  harness = await TeamHarness.start({
    redis,
    answer: (request) => {
      if (askerOf(request) === LEAD) return textOf(request).includes('queued') ? end : delegate;
      const isFirst = first;
      first = false;
      return isFirst ? { text: 'of the zombie', after: held.opened } : { text: 'of the heir' };
    },
    settings: shortLease,
  });
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === 'alice');
  await loseLease('alice');
  await harness.settled(runId);
  held.open();
  await harness.until(({ event }) => event === 'done');
  const events = await harness.until(({ event }) => event === 'done');
  expect(events.filter(({ event }) => event === 'ar').map(({ data }) => data.content)).toEqual(['of the heir']);
  expect(
    events.filter(({ event, agentId }) => event === 'ax' && agentId === 'alice').map(({ data }) => data.reason),
  ).toEqual(['lost', 'completed']);
});

test.each([
  ['an idempotent tool runs again with the same key', true, ['ran', 'ran']],
  ['any other tool is not run again, and the model is told that the outcome is unknown', false, ['ran']],
])('after a crash in the middle of a tool call %s', async (_, idempotent, expected) => {
  const runs: string[] = [];
  const keys = new Set<string>();
  const started = latch();
  const held = latch();
  const tool: Tool = {
    name: 'effect',
    description: 'has an effect',
    parameters: z.object({}),
    idempotent,
    execute: async (_args, { idempotencyKey }) => {
      runs.push('ran');
      keys.add(idempotencyKey);
      started.open();
      if (runs.length === 1) await held.opened;
      return 'effect done';
    },
  };
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [delegate, end],
      alice: [
        { calls: [{ name: 'effect', args: {} }] },
        (request) => ({ text: request.messages.at(-1)?.content ?? '' }),
      ],
    }),
    agents: [{ id: 'alice', tools: ['effect'] }],
    tools: [tool],
    settings: shortLease,
  });
  const runId = await harness.ask('go');
  await started.opened;
  await loseLease('alice');
  await harness.settled(runId);
  held.open();
  const [result] = (await harness.until(({ event }) => event === 'ar')).filter(({ event }) => event === 'ar');
  expect(runs).toEqual(expected);
  expect(keys.size).toBe(1);
  expect(result?.data.content).toEqual(
    idempotent ? 'effect done' : expect.stringContaining('outcome of this call is unknown'),
  );
});

test('stopping a host releases an idle agent at once, and its answer loads it on the next host with its memory', async () => {
  const held = latch();
  harness = await TeamHarness.start({
    redis,
    answer: story({
      lead: [
        delegate,
        (request) => ({
          after: held.opened,
          calls: [send('alice', 'clarify_resp', 'yes', mailId(request, 'alice', 'clarify')), wait],
        }),
        end,
      ],
      alice: [
        { calls: [send('lead', 'clarify', 'may I?')] },
        (request) => ({ text: `asked: ${textOf(request).includes('queued for lead')}` }),
      ],
    }),
    settings: { idleMs: 60_000 },
  });
  const runId = await harness.ask('go');
  await harness.model.seen((request) => askerOf(request) === LEAD && textOf(request).includes('may I?'));
  for (const activation of harness.activations) if (activation.lease?.agent === 'alice') activation.stop('released');
  await harness.until(({ event, data }) => event === 'ax' && data.reason === 'released');
  held.open();
  await harness.settled(runId);
  const events = await harness.until(({ event }) => event === 'done');
  expect(events.find(({ event }) => event === 'ar')?.data.content).toBe('asked: true');
});

test('lost notifications delay nothing for good: a look into the mailbox finds the message', async () => {
  harness = await TeamHarness.start({
    redis,
    answer: story({ lead: [{ text: 'one' }, { text: 'two' }] }),
    settings: { idleMs: 60_000 },
  });
  await harness.settled(await harness.ask('first'));
  harness.deafen();
  const runId = await harness.ask('second');
  const [lease] = [...harness.activations].flatMap((activation) => (activation.lease ? [activation.lease] : []));
  expect(await harness.mailbox.renewLeases([lease as never], 60_000)).toEqual(['work']);
  for (const activation of harness.activations) activation.call();
  expect((await harness.settled(runId)).output).toBe('two');
});

test('after Redis has lost its latest writes an agent goes on from what is there, not from what it remembers', async () => {
  harness = await TeamHarness.start({
    redis,
    answer: story({ lead: [{ text: 'one' }, (request) => ({ text: textOf(request) })] }),
    settings: { idleMs: 60_000 },
  });
  await harness.settled(await harness.ask('the first'));
  const store = connect({ url: redis.url, name: 'rollback', mood: 'patient' });
  const keys = await store.keys(`${redis.prefix}:*:${harness.sessionId}:${LEAD}`);
  const kept = await Promise.all(keys.map((key) => store.dumpBuffer(key)));
  await harness.settled(await harness.ask('the second'));
  await Promise.all(keys.map((key, i) => store.restore(key, 0, kept[i] ?? '', 'REPLACE')));
  store.disconnect();
  const { output } = await harness.settled(await harness.ask('the third'));
  expect(output).toContain('the first');
  expect(output).toContain('the third');
  expect(output).not.toContain('the second');
});
