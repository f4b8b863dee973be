import { type SessionUsage, sessionUsage, type UsageRow } from '@mailroom/contracts';
import { SessionClient, type Stack } from '@mailroom/tools';
import { eventsUntil, isDone, model, REQUEST, storyStack } from './q2-story';

interface ServedAnswer {
  id: string;
  input: number;
  output: number;
}

let stack: Stack;
afterEach(() => stack.stop());

async function usageOf(id: string): Promise<SessionUsage & { rows: UsageRow[] }> {
  const response = await fetch(`${stack.gateways[0]?.url}/api/v1/sessions/${id}/usage?rows=true&limit=200`);
  return sessionUsage.required({ rows: true }).parse(await response.json());
}
const served = async () => (await model(stack, 'GET', '/served')) as ServedAnswer[];
const key = ({ id, input, output }: ServedAnswer) => `${id} ${input} ${output}`;
const keyOf = ({ responseId = '', input = -1, output = -1 }: UsageRow) => key({ id: responseId, input, output });

test('R21: what a session has spent is, call for call, what the model served', async () => {
  stack = await storyStack();
  const { id } = await new SessionClient(stack.gateways[0]?.url ?? '').open('coordinator', REQUEST);
  await eventsUntil(stack.gateways[0]?.url ?? '', id, isDone);
  const { rows, own, tree, byInstance } = await usageOf(id);
  expect(rows.map(keyOf).sort()).toEqual((await served()).map(key).sort());
  expect(rows.every(({ status }) => status === 'ok')).toBe(true);
  expect(tree.calls).toBe(rows.length);
  expect(own.calls).toBe(rows.filter(({ instance }) => instance === 'lead').length);
  expect(byInstance.map(({ instance }) => instance).sort()).toEqual(['alice', 'bob', 'lead', 'reporter']);
}, 90_000);

test.each([
  ['an answer was served and not committed', 'before:commit.answer@alice', 1],
  ['an answer was committed and nobody had heard of it', 'after:commit.answer@alice', 0],
])(
  'R21: so it is when a worker is killed after %s',
  async (_, failpoint, lostAnswers) => {
    stack = await storyStack({ workers: 0 });
    const dying = await stack.startWorker({ FAILPOINT: failpoint });
    const url = stack.gateways[0]?.url ?? '';
    const { id } = await new SessionClient(url).open('coordinator', REQUEST);
    await dying.exited;
    await stack.startWorker();
    const events = await eventsUntil(url, id, isDone);
    expect(events.at(-1)?.data).toMatchObject({ status: 'completed' });

    const { rows, tree } = await usageOf(id);
    const answers = (await served()).map(key);
    const counted = rows.filter(({ status }) => status === 'ok').map(keyOf);
    // Each row is one answer that was served; what was served without a row shows as a lost call.
    expect(new Set(counted).size).toBe(counted.length);
    expect(counted.filter((row) => !answers.includes(row))).toEqual([]);
    const uncounted = answers.filter((answer) => !counted.includes(answer));
    expect(uncounted.length).toBeGreaterThanOrEqual(lostAnswers);
    expect(uncounted.length).toBeLessThanOrEqual(tree.lostCalls);
    expect(tree.calls).toBe(answers.length - uncounted.length);
    // Bob may have been in a call on the same worker; each call that was lost there was made again once.
    const lost = rows.filter(({ status }) => status === 'lost').map(({ instance, step }) => `${instance} ${step}`);
    expect(new Set(lost).size).toBe(lost.length);
    for (const call of lost) expect(call).toMatch(/^(alice|bob) /);
  },
  90_000,
);
