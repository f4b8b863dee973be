import type { SessionEvent } from '@mailroom/contracts';
import { SessionClient, type Stack } from '@mailroom/tools';
import { chains, eventsUntil, isDone, messagesOf, model, REQUEST, shippedRules, storyStack } from './q2-story';

/**
 * The Q2 report story of seed 000 §5 with real processes: alice idles out while the lead's answer is held, the worker
 * that knew her is stopped, and the answer loads her on another one.
 */
describe('the life of a team', () => {
  let stack: Stack;
  let sessionId: string;
  let events: SessionEvent[];
  let second: string;

  beforeAll(async () => {
    stack = await storyStack({
      gateways: 2,
      workers: 1,
      modelEnv: { RULES: shippedRules('held-answer') },
      env: { IDLE_TIMEOUT_MS: '500' },
    });
    const [first, other] = stack.gateways.map(({ url }) => url) as [string, string];
    second = other;
    const client = new SessionClient(first);
    ({ id: sessionId } = await client.open('coordinator', REQUEST));
    await eventsUntil(
      other,
      sessionId,
      ({ event, agentId, data }) => event === 'ax' && agentId === 'alice' && data.reason === 'idle_timeout',
    );
    await stack.startWorker();
    await stack.workers[0]?.stop();
    await model(stack, 'POST', '/barriers/answer/release');
    events = await eventsUntil(other, sessionId, isDone);
  }, 90_000);
  afterAll(() => stack.stop());

  const at = (matches: (event: SessionEvent) => boolean) => events.findIndex(matches);
  const loads = (agent: string) => events.filter(({ event, agentId }) => event === 'as' && agentId === agent);
  const message = (to: string, type: string) => at(({ data }) => data.to === to && data.type === type);

  test('no sub-agent is loaded before its first message', () => {
    for (const agent of ['alice', 'bob', 'reporter']) {
      const loaded = at(({ event, agentId }) => event === 'as' && agentId === agent);
      expect(loaded).toBeGreaterThan(message(agent, 'task'));
      expect(message(agent, 'task')).toBeGreaterThan(-1);
    }
  });

  test('alice and bob were in a model call at the same time', async () => {
    const { barriers } = (await model(stack, 'GET', '/stats')) as { barriers: Record<string, unknown> };
    expect(barriers['both-at-work']).toMatchObject({ filled: 1, timedOut: 0 });
  });

  test('R11: bob exits as completed, alice by the idle limit with her task open, and later as completed', () => {
    const exits = events.filter(({ event }) => event === 'ax').map(({ agentId, data }) => `${agentId} ${data.reason}`);
    expect(exits).toEqual([
      'bob completed',
      'alice idle_timeout',
      'alice completed',
      'reporter completed',
      'reporter completed',
    ]);
  });

  test('the answer loads alice on another worker with her memory', () => {
    const [before, after] = loads('alice').map(({ data }) => data as { host: string; reload: boolean });
    expect(before).toMatchObject({ reload: false, host: expect.stringContaining('worker-1') });
    expect(after).toMatchObject({ reload: true, host: expect.stringContaining('worker-2') });
    const result = messagesOf(events).find(({ from, type }) => from === 'alice' && type === 'result');
    expect(result?.content).toContain('range as confirmed: Q2 only, without Q1.');
    expect(result?.content).toContain('Source:');
  });

  test('a revision reaches the memory that wrote the draft', () => {
    expect(loads('reporter')).toHaveLength(2);
    expect(events.at(-1)?.data.text).toContain('on the basis of my earlier draft');
    expect(events.at(-1)?.data.text).toContain('## Risks');
  });

  test('R14: the run waits while tasks are open, makes no model call then, and is done once', () => {
    expect(events.filter(isDone)).toHaveLength(1);
    expect(events.at(-1)?.data).toMatchObject({ status: 'completed' });
    let isWaiting = false;
    for (const { event, data, agentId } of events) {
      if (event === 'rs') isWaiting = data.status === 'waiting';
      if (event === 'u' && agentId === 'lead') expect(isWaiting).toBe(false);
    }
    expect(events.some(({ event, data }) => event === 'rs' && data.status === 'waiting')).toBe(true);
  });

  test('the reply chains are those of seed 000 §6', () => {
    const found = chains(messagesOf(events));
    expect(found).toEqual(
      expect.arrayContaining([
        'task lead→alice < clarify alice→lead < clarify_resp lead→alice',
        'task lead→alice < result alice→lead',
        'task lead→bob < result bob→lead',
        'task lead→reporter < result reporter→lead < revision lead→reporter < result reporter→lead',
      ]),
    );
    expect(found.filter((chain) => chain.endsWith('result alice→lead'))).toHaveLength(1);
  });

  test('events resume after any event on the other gateway, each once and in order', async () => {
    const ids = events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const cut of [0, 1, Math.floor(ids.length / 2), ids.length - 2]) {
      const rest = await eventsUntil(stack.gateways[0]?.url ?? '', sessionId, isDone, ids[cut]);
      expect(rest.map(({ id }) => id)).toEqual(ids.slice(cut + 1));
    }
    const page = (await (await fetch(`${second}/api/v1/sessions/${sessionId}/events/log?limit=1000`)).json()) as {
      events: SessionEvent[];
    };
    expect(page.events.slice(0, ids.length)).toEqual(events);
  });

  test('what the session says it spent is what its usage events say', async () => {
    const detail = await new SessionClient(second).detail(sessionId);
    const usage = events.filter(({ event }) => event === 'u');
    expect(detail.usage.calls).toBe(usage.length);
    expect(detail.usage.input).toBe(usage.reduce((sum, { data }) => sum + Number(data.input), 0));
    expect(detail.openTasks).toEqual([]);
    expect(detail.openQuestions).toEqual([]);
    const { served } = (await model(stack, 'GET', '/stats')) as { served: number };
    expect(detail.usage.calls).toBe(served);
  });
});
