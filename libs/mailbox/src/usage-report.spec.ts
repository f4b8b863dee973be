import type { UsageRow } from '@mailroom/contracts';
import { sessionUsageOf, spaceUsageOf } from './usage-report';

/** A call of an instance, 10 tokens in and 5 out. */
function call(instance: string, more: Partial<UsageRow> = {}): UsageRow {
  return {
    sessionId: 's1',
    runId: 'run_1',
    at: '2026-11-30T10:00:00.000Z',
    agent: instance,
    instance,
    step: 1,
    model: 'm',
    status: 'ok',
    attempts: 1,
    input: 10,
    output: 5,
    cost: 0.1,
    ...more,
  };
}
const zero = { calls: 0, input: 0, output: 0, cached: 0, reasoning: 0, unpricedCalls: 0, failedCalls: 0, lostCalls: 0 };
const times = (calls: number) => ({ ...zero, calls, input: 10 * calls, output: 5 * calls, cost: calls / 10 });

describe('R21: what a session has spent', () => {
  const rows = [
    call('lead', { agent: 'boss' }),
    call('bob#1', { agent: 'bob', parent: 'lead' }),
    call('bob#1/leaf#1', { agent: 'leaf', parent: 'bob#1' }),
    call('bob#1/leaf#1/twig', { agent: 'twig', parent: 'bob#1/leaf#1' }),
    call('bob#10', { agent: 'bob', parent: 'lead', runId: 'run_2' }),
    call('alice', { runId: 'run_2', model: 'other' }),
  ];
  const report = sessionUsageOf('s1', rows);

  test('is own for the lead and tree for all', () => {
    expect(report.own).toEqual(times(1));
    expect(report.tree).toEqual(times(6));
  });

  test('has for each instance its own calls, and with those of all that it called', () => {
    expect(report.byInstance.map(({ instance, own, tree }) => [instance, own.calls, tree.calls])).toEqual([
      ['lead', 1, 6],
      ['bob#1', 1, 3],
      ['bob#1/leaf#1', 1, 2],
      ['bob#1/leaf#1/twig', 1, 1],
      ['bob#10', 1, 1],
      ['alice', 1, 1],
    ]);
  });

  test('is told by agent, model and run, each call in one group', () => {
    expect(report.byAgent.map(({ agent, calls }) => [agent, calls])).toContainEqual(['bob', 2]);
    expect(report.byModel.map(({ model, calls }) => [model, calls])).toEqual([
      ['m', 5],
      ['other', 1],
    ]);
    expect(report.byRun).toEqual([
      { runId: 'run_1', ...times(4) },
      { runId: 'run_2', ...times(2) },
    ]);
  });

  test('counts an instance whose caller has made no call yet under the caller of that', () => {
    const { byInstance } = sessionUsageOf('s1', [
      call('bob#1'),
      call('bob#1/leaf#1/twig#1', { parent: 'bob#1/leaf#1' }),
    ]);
    expect(byInstance[0]).toMatchObject({ instance: 'bob#1', tree: { calls: 2 } });
  });
});

describe('R21: an unknown cost', () => {
  const { cost: _, ...unpriced } = call('lead');

  test('is absent where no call has a price, and never 0', () => {
    expect(sessionUsageOf('s1', [unpriced]).tree).toEqual({
      ...zero,
      calls: 1,
      input: 10,
      output: 5,
      unpricedCalls: 1,
    });
  });

  test('is counted beside what is known', () => {
    const { tree } = sessionUsageOf('s1', [unpriced, call('lead'), call('lead', { cost: 0 })]);
    expect(tree).toMatchObject({ calls: 3, cost: 0.1, unpricedCalls: 1 });
  });

  test('of calls without an answer shows as failed and lost calls', () => {
    const { model: _, ...lost } = call('lead', { status: 'lost' });
    const { tree, byModel } = sessionUsageOf('s1', [lost, call('lead', { status: 'failed' })]);
    expect(tree).toEqual({ ...zero, failedCalls: 1, lostCalls: 1, cost: 0 });
    expect(byModel.map(({ model }) => model)).toEqual(['unknown', 'm']);
  });
});

test('costs add up without the errors of fractions', () => {
  const rows = Array.from({ length: 1_000 }, () => call('lead', { cost: 0.000001 }));
  expect(sessionUsageOf('s1', rows).tree.cost).toBe(0.001);
});

test.each([
  ['session', ['s1', 's2']],
  ['agent', ['boss', 'alice']],
  ['model', ['m', 'unknown']],
  ['day', ['2026-11-30', '2026-12-01']],
] as const)('R21: what a space has spent is grouped by %s', async (groupBy, keys) => {
  const { model: _, ...lost } = call('alice', { sessionId: 's2', status: 'lost', at: '2026-12-01T00:00:00.000Z' });
  const range = { from: '2026-11-30T00:00:00.000Z', to: '2026-12-02T00:00:00.000Z' };
  const report = await spaceUsageOf(batches([call('lead', { agent: 'boss' })], [], [lost]), range, groupBy);
  expect(report).toMatchObject({ ...range, groupBy, total: { calls: 1, lostCalls: 1 } });
  expect(report.groups.map(({ key }) => key)).toEqual(keys);
});

async function* batches(...rows: UsageRow[][]): AsyncGenerator<UsageRow[]> {
  yield* rows;
}
