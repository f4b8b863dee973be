import { LEAD, LIMITS, type SessionEvent } from '@mailroom/contracts';
import { testRedis } from '@mailroom/tools';
import { latch } from './testing/latch';
import { askerOf, type ModelRequestBody, type ScriptedAnswer } from './testing/model-server';
import { mailId, send, story, textOf, wait } from './testing/story';
import { type HarnessOptions, TeamHarness } from './testing/team-harness';

const redis = testRedis();
let harness: TeamHarness;
afterEach(() => harness.close());

/** Agents leave soon, so that what their leaving brings about is seen. */
const start = async (options: Omit<HarnessOptions, 'redis'>) => {
  harness = await TeamHarness.start({ redis, ...options, settings: { idleMs: 30, ...options.settings } });
};
const requestsOf = (agent: string) => harness.model.requests.filter((request) => askerOf(request) === agent);
const results = (events: SessionEvent[]) =>
  events.filter(({ event }) => event === 'ar').map(({ data }) => [data.from, data.status, data.content]);
const play = async (question = 'go') => {
  const runId = await harness.ask(question);
  const events = await harness.until(({ event, runId: of }) => event === 'done' && of === runId);
  const detail = await harness.reader.detail('default', harness.sessionId);
  return { run: detail?.run, results: results(events), openTasks: detail?.openTasks, questions: detail?.openQuestions };
};
const sweep = (agent: string, kind: 'clarify' | 'wait') =>
  harness.due.sweep({ sessionId: harness.sessionId, agent, kind }, { againMs: 1_000, unclaimedMs: 1_000 });
const hears = (request: ModelRequestBody, words: string) => textOf(request).includes(words);
const delegate = { calls: [send('alice', 'task', 'one'), wait] };
const settledClean = { openTasks: [], questions: [] };

describe('R15: waiting for each other', () => {
  test('R15: a lead that waits for its agent, which waits for its lead without a question, is told once and then answers', async () => {
    await start({
      answer: (request) => {
        if (askerOf(request) !== LEAD) return { calls: [wait] };
        if (!hears(request, 'queued for')) return delegate;
        return request.tools ? { calls: [wait] } : { text: 'nothing came' };
      },
    });
    expect(await play()).toMatchObject({
      run: { status: 'completed', reason: 'quiescent', output: 'nothing came' },
      results: [['alice', 'cancelled', 'Cancelled: the run waited and nobody was working.']],
      ...settledClean,
    });
    expect(requestsOf('alice')).toHaveLength(1);
    expect(requestsOf(LEAD)).toHaveLength(3);
  });

  test.each([
    ['two', ['alice', 'bob']],
    ['three', ['alice', 'bob', 'carol']],
  ])(
    'R15: a ring of %s that ask each other and wait is answered as they leave, and all give their results',
    async (_, ring) => {
      await start({
        team: ring,
        answer: (request) => {
          const asker = askerOf(request);
          if (asker !== LEAD) {
            if (hears(request, 'No answer came')) return { text: 'assumed' };
            const next = ring[(ring.indexOf(asker) + 1) % ring.length] as string;
            return { calls: hears(request, 'queued for') ? [wait] : [send(next, 'clarify', 'after you?'), wait] };
          }
          if (!hears(request, 'queued for')) return { calls: [...ring.map((name) => send(name, 'task', 'one')), wait] };
          return { text: 'end' };
        },
      });
      const { run, results, ...rest } = await play();
      expect(run).toMatchObject({ status: 'completed', output: 'end' });
      expect(run?.reason).toBeUndefined();
      expect(results.sort()).toEqual(ring.map((name) => [name, 'ok', 'assumed']));
      expect(rest).toEqual(settledClean);
      for (const name of ring) expect(requestsOf(name).length).toBeLessThanOrEqual(4);
    },
  );
});

describe('R15: a question that nobody answers', () => {
  const alice = [
    { calls: [send('lead', 'clarify', 'which year?')] },
    (request: ModelRequestBody) => ({ text: `assumed: ${hears(request, 'No answer came')}` }),
  ];

  test('R15: while the lead gives others work and parks over it is answered by the engine', async () => {
    await start({
      answer: story({
        lead: [
          delegate,
          { calls: [send('bob', 'task', 'two'), wait] },
          { calls: [send('bob', 'task', 'three'), wait] },
          { calls: [send('bob', 'task', 'four'), wait] },
          { text: 'interim' },
          { text: 'end' },
        ],
        alice,
        bob: [{ text: 'found' }, { text: 'found' }, { text: 'found' }],
      }),
    });
    const { run, results, ...rest } = await play();
    expect(run).toMatchObject({ status: 'completed' });
    expect(results).toContainEqual(['alice', 'ok', 'assumed: true']);
    expect(rest).toEqual(settledClean);
  });

  test('R12, R15: of a lead that never parks ends with the step limit of the run', async () => {
    await start({
      answer: (request) => {
        if (askerOf(request) === 'alice') return { calls: [send('lead', 'clarify', 'which year?')] };
        if (!request.tools) return { text: 'what I have' };
        return hears(request, 'queued for')
          ? { calls: [{ name: 'current_time', args: {} }] }
          : { calls: [send('alice', 'task', 'one')] };
      },
    });
    expect(await play()).toMatchObject({
      run: { status: 'completed', reason: 'max_steps', output: 'what I have' },
      results: [['alice', 'cancelled', 'Cancelled: the run reached its step limit.']],
      ...settledClean,
    });
    expect(requestsOf(LEAD)).toHaveLength(LIMITS.leadMaxSteps + 1);
    expect(requestsOf('alice')).toHaveLength(1);
  });

  test('R15: is answered at its deadline, while others still work', async () => {
    const held = latch();
    await start({
      answer: story({
        lead: [
          { calls: [send('alice', 'task', 'one'), send('bob', 'task', 'two'), wait] },
          { calls: [wait] },
          { text: 'interim' },
          { text: 'end' },
        ],
        alice,
        bob: [{ text: 'found', after: held.opened }],
      }),
      session: { clarifyMs: 0 },
    });
    const runId = await harness.ask('go');
    await harness.until(({ event, agentId }) => event === 'ax' && agentId === 'alice');
    await sweep('alice', 'clarify');
    await harness.model.seen((request) => askerOf(request) === LEAD && hears(request, 'assumed: true'));
    held.open();
    expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'end' });
  });

  test.each(['before', 'after'])(
    'R15: of an agent that leaves just %s the lead concludes goes with its task, and its agent is there for the next run',
    async (order) => {
      const [leaving, concluded, left] = [latch(), latch(), latch()];
      await start({
        answer: story({
          lead: [
            delegate,
            { calls: [{ name: 'current_time', args: {} }], after: order === 'before' ? left.opened : leaving.opened },
            (request) => {
              concluded.open();
              return { text: `without tools: ${request.tools === undefined}` };
            },
            delegate,
            { text: 'end' },
          ],
          alice: [{ calls: [send('lead', 'clarify', 'which year?')] }, { text: 'remembers' }],
        }),
        agents: [{ id: 'boss', tools: ['current_time'], subAgents: ['alice', 'bob'], maxSteps: 2 }],
        at: async (point, _, agent) => {
          if (agent !== 'alice') return;
          if (point === 'before exit') leaving.open();
          if (point === 'before exit' && order === 'after') await concluded.opened;
          if (point === 'after exit') left.open();
        },
      });
      expect(await play()).toMatchObject({
        run: { status: 'completed', reason: 'max_steps', output: 'without tools: true' },
        results: [['alice', 'cancelled', 'Cancelled: the run reached its step limit.']],
        ...settledClean,
      });
      const second = await play('again');
      expect(second.run).toMatchObject({ status: 'completed', output: 'end' });
      expect(second.results.at(-1)).toEqual(['alice', 'ok', 'remembers']);
    },
  );
});

describe('R14, R15: wakeOn all and a question', () => {
  const both = { calls: [send('alice', 'task', 'one'), send('bob', 'task', 'two'), wait] };

  test('R14: the question wakes the lead at once, the results after it together', async () => {
    const held = latch();
    await start({
      answer: story({
        lead: [
          both,
          (request) => ({ calls: [send('alice', 'clarify_resp', '2024', mailId(request, 'alice', 'clarify')), wait] }),
          { text: 'end' },
        ],
        alice: [{ calls: [send('lead', 'clarify', 'which year?')] }, { text: 'of 2024' }],
        bob: [{ text: 'found', after: held.opened }],
      }),
      session: { wakeOn: 'all' },
    });
    const runId = await harness.ask('go');
    await harness.until(({ event }) => event === 'ar');
    held.open();
    expect(await harness.settled(runId)).toMatchObject({ status: 'completed', output: 'end' });
    expect(requestsOf(LEAD)).toHaveLength(3);
  });

  test('R15: a lead that ignores it is told of it when nobody works any more', async () => {
    await start({
      answer: story({
        lead: [both, { calls: [wait] }, { calls: [wait] }, { text: 'end' }],
        alice: [
          { calls: [send('lead', 'clarify', 'which year?')] },
          (request) => ({ text: `assumed: ${hears(request, 'No answer came')}` }),
        ],
        bob: [{ text: 'found' }],
      }),
      session: { wakeOn: 'all' },
    });
    const { run, results } = await play();
    expect(run).toMatchObject({ status: 'completed', output: 'end' });
    expect(results.sort()).toEqual([
      ['alice', 'ok', 'assumed: true'],
      ['bob', 'ok', 'found'],
    ]);
  });
});

test('R15: a run whose agent is silent for longer than the wait budget is answered without it, and its call is dropped', async () => {
  const never = latch();
  await start({
    answer: story({
      lead: [delegate, { text: 'without alice' }],
      alice: [{ text: 'x', after: never.opened }],
    }),
    settings: { modelSilenceMs: 600_000, modelCallMs: 600_000 },
    session: { waitBudgetMs: 0 },
  });
  const runId = await harness.ask('go');
  const hanging = await harness.model.seen((request) => askerOf(request) === 'alice');
  await harness.until(({ event, data }) => event === 'rs' && data.status === 'waiting');
  await sweep(LEAD, 'wait');
  await harness.model.dropped(hanging);
  expect(await harness.settled(runId)).toMatchObject({
    status: 'completed',
    reason: 'wait_budget',
    output: 'without alice',
  });
  never.open();
});

describe('R12: politeness without end', () => {
  const thanks = (asker: string, to: string, type: string): ScriptedAnswer => ({
    calls: [send(to, type, `${asker}: thank YOU!`), wait],
  });

  test('R12: questions and answers between lead and agent end at the step limit of the task', async () => {
    await start({
      answer: (request) => {
        if (askerOf(request) === 'alice') return request.tools ? thanks('alice', LEAD, 'clarify') : { text: 'so far' };
        if (hears(request, 'type="result"')) return { text: 'end' };
        return hears(request, 'queued for') ? thanks(LEAD, 'alice', 'clarify_resp') : delegate;
      },
    });
    expect(await play()).toMatchObject({
      run: { status: 'completed', output: 'end' },
      results: [['alice', 'partial', 'so far']],
      ...settledClean,
    });
    expect(requestsOf('alice')).toHaveLength(LIMITS.maxSteps + 1);
    expect(requestsOf(LEAD)).toHaveLength(LIMITS.maxSteps + 2);
  });

  test('R12: after the last task they end at the allowance of the agent and the step limit of the run', async () => {
    await start({
      answer: (request) => {
        if (askerOf(request) === 'alice')
          return hears(request, 'queued for lead')
            ? thanks('alice', LEAD, 'clarify')
            : { calls: [send(LEAD, 'result', 'done'), send(LEAD, 'clarify', 'happy?')] };
        if (!request.tools) return { text: 'end' };
        return hears(request, 'queued for') ? thanks(LEAD, 'alice', 'clarify_resp') : delegate;
      },
    });
    const { run, results } = await play();
    expect(run).toMatchObject({ status: 'completed', reason: 'max_steps', output: 'end' });
    expect(results).toEqual([['alice', 'ok', 'done']]);
    expect(requestsOf('alice').length).toBeLessThanOrEqual(1 + LIMITS.freeSteps);
    expect(requestsOf(LEAD)).toHaveLength(LIMITS.leadMaxSteps + 1);
  });

  test('R12: between two agents they end at the limit of the one and the allowance of the other', async () => {
    await start({
      answer: (request) => {
        if (askerOf(request) === 'alice') return request.tools ? thanks('alice', 'bob', 'clarify') : { text: 'so far' };
        if (askerOf(request) === 'bob') return thanks('bob', 'alice', 'clarify_resp');
        return hears(request, 'queued for') ? { text: 'end' } : delegate;
      },
    });
    expect(await play()).toMatchObject({
      run: { status: 'completed', output: 'end' },
      results: [['alice', 'partial', 'so far']],
      ...settledClean,
    });
    await harness.allLeft();
    expect(requestsOf('alice').length).toBeLessThanOrEqual(LIMITS.maxSteps + 1);
    expect(requestsOf('bob').length).toBeLessThanOrEqual(LIMITS.freeSteps);
  });
});

describe('R12: an exchange of 12 rounds that has a purpose', () => {
  const rounds = 12;
  const heard = (request: ModelRequestBody, type: string) =>
    (textOf(request).match(new RegExp(`type="${type}"`, 'g')) ?? []).length;

  test('R12: passes as questions within one task, where the agent may make the steps', async () => {
    await start({
      answer: (request) => {
        if (askerOf(request) === 'alice')
          return heard(request, 'clarify_resp') < rounds
            ? { calls: [send(LEAD, 'clarify', 'and then?')] }
            : { text: `${heard(request, 'clarify_resp')} answers` };
        if (!hears(request, 'queued for')) return delegate;
        if (hears(request, 'type="result"')) return { text: 'end' };
        return { calls: [send('alice', 'clarify_resp', 'so', mailId(request, 'alice', 'clarify')), wait] };
      },
      agents: [{ id: 'alice', maxSteps: rounds + 1 }],
    });
    const { run, results } = await play();
    expect(run).toMatchObject({ status: 'completed', output: 'end' });
    expect(run?.reason).toBeUndefined();
    expect(results).toEqual([['alice', 'ok', '12 answers']]);
  });

  test('R12: passes as revisions with the default limits', async () => {
    await start({
      answer: (request) => {
        if (askerOf(request) === 'alice') return { text: `draft ${heard(request, 'revision')}` };
        if (!hears(request, 'queued for')) return delegate;
        return heard(request, 'result') > rounds
          ? { text: 'end' }
          : { calls: [send('alice', 'revision', 'more', mailId(request, 'alice', 'result')), wait] };
      },
    });
    const { run, results } = await play();
    expect(run).toMatchObject({ status: 'completed', output: 'end' });
    expect(results.at(-1)).toEqual(['alice', 'ok', 'draft 12']);
  });
});
