import { LEAD } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { latch } from './testing/latch';
import { askerOf, type ModelRequestBody, type ScriptedAnswer } from './testing/model-server';
import { send, textOf, wait } from './testing/story';
import { TeamHarness } from './testing/team-harness';

const redis = testRedis();
const STRIKES = 5;
let harness: TeamHarness;
/** Whose activations fail, at which point. */
let broken: { agent: string; at: string };
let failures: number;
afterEach(() => harness.close());

async function start(answer: (request: ModelRequestBody) => ScriptedAnswer, failing: typeof broken): Promise<void> {
  broken = failing;
  failures = 0;
  harness = await TeamHarness.start({
    redis,
    answer,
    settings: { idleMs: 30, leaseMs: 0 },
    at: async (point, { due, sessionId }, agent) => {
      if (agent !== broken.agent || point !== broken.at) return;
      failures++;
      // A process that died here releases nothing: its lease runs out.
      if (point === 'after claim') await due.sweep({ sessionId, agent, kind: 'lease' }, { againMs: 0, unclaimedMs: 0 });
      throw new Error('a bug in the host');
    },
  });
}
const repair = () => {
  broken = { agent: '', at: '' };
};
const hears = (request: ModelRequestBody, words: string) => textOf(request).includes(words);
const results = async (runId: string) =>
  (await harness.until(({ event, runId: of }) => event === 'done' && of === runId))
    .filter(({ event }) => event === 'ar')
    .map(({ data }) => [data.from, data.status, data.content]);

const FAILURES = [
  ['whose process dies as soon as it is loaded', 'after claim'],
  ['whose every step fails in the host', 'before commit'],
] as const;

test.each(FAILURES)(
  'R5: an agent %s is taken out of service, the lead is told why and goes on, and a new task revives it',
  async (_, at) => {
    await start(
      (request) => {
        if (askerOf(request) !== LEAD) return { text: 'recovered' };
        if (!hears(request, 'queued for')) return { calls: [send('alice', 'task', 'one'), wait] };
        if (hears(request, 'recovered')) return { text: 'end' };
        repair();
        return { calls: [send('alice', 'task', 'once more'), wait] };
      },
      { agent: 'alice', at },
    );
    const runId = await harness.ask('go');
    expect(await results(runId)).toEqual([
      ['alice', 'failed', 'The agent ended 5 times in a row without doing anything and is taken out of service.'],
      ['alice', 'ok', 'recovered'],
    ]);
    expect(failures).toBe(STRIKES);
    expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'end' });
  },
);

test.each(FAILURES)('R13: the run of a lead %s fails with a clear text, and the next input works', async (_, at) => {
  await start(() => ({ text: 'here I am' }), { agent: LEAD, at });
  const run = await harness.settled(await harness.ask('go'));
  expect(run).toMatchObject({ status: 'failed', reason: 'lead_dead' });
  expect(run.output).toContain('5 times in a row');
  expect(failures).toBe(STRIKES);
  repair();
  expect(await harness.settled(await harness.ask('again'))).toMatchObject({
    status: 'completed',
    output: 'here I am',
  });
});

test('R13: a lead that begins to fail takes its open tasks with it, and its team stops', async () => {
  const never = latch();
  await start(
    (request) => {
      if (askerOf(request) !== LEAD) return { text: 'x', after: never.opened };
      if (!hears(request, 'queued for')) return { calls: [send('alice', 'task', 'one')] };
      broken = { agent: LEAD, at: 'before commit' };
      return { text: 'never written', after: harness.model.seen((each) => askerOf(each) === 'alice') };
    },
    { agent: '', at: '' },
  );
  const runId = await harness.ask('go');
  expect(await results(runId)).toEqual([['alice', 'cancelled', 'Cancelled: the lead failed.']]);
  expect(await harness.settled(runId)).toMatchObject({ status: 'failed', reason: 'lead_dead' });
  await harness.model.dropped(await harness.model.seen((request) => askerOf(request) === 'alice'));
  await harness.allLeft();
  never.open();
});

test('R10, R15: a question to an agent that is out of service is answered at once, and its asker goes on', async () => {
  await start(
    (request) => {
      const asker = askerOf(request);
      if (asker === LEAD) {
        if (!hears(request, 'queued for bob')) return { calls: [send('bob', 'task', 'one'), wait] };
        if (!hears(request, 'queued for alice')) return { calls: [send('alice', 'task', 'two'), wait] };
        return { text: 'end' };
      }
      if (!hears(request, 'queued for bob')) return { calls: [send('bob', 'clarify', 'what is 6 x 7?'), wait] };
      return { text: `assumed: ${hears(request, 'bob is out of service')}` };
    },
    { agent: 'bob', at: 'before commit' },
  );
  const runId = await harness.ask('go');
  expect((await results(runId)).at(-1)).toEqual(['alice', 'ok', 'assumed: true']);
  expect((await harness.settled(runId)).reason).toBeUndefined();
});
