import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JournalEntry, type SessionEvent, sessionUsage } from '@mailroom/contracts';
import { SessionClient, type Stack } from '@mailroom/tools';
import { eventsUntil, isDone, messagesOf, model, shippedRules, storyStack } from './q2-story';

const TEAM = ['ann', 'ben', 'cleo', 'dan'];
const INSTANCES = TEAM.map((name) => `${name}#1`);

/** Delegation as a tool with real processes: a lead that calls four colleagues in one step, two places in each worker. */
describe('four handoffs of one step', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-handoff-'));
  let stack: Stack;
  let url: string;

  beforeAll(async () => {
    const rules = join(folder, 'rules.yaml');
    // A colleague that was called is held in its first model call, by what it is asked for.
    const held = ['party', 'picnic'].map(
      (name) =>
        `  - { name: "${name}", when: { called: true, request: ${name}, steps: { max: 0 } }, hold: { name: ${name}, timeoutMs: 60000 } }\n`,
    );
    writeFileSync(rules, `include: [${JSON.stringify(shippedRules('default'))}]\nrules:\n${held.join('')}`);
    stack = await storyStack({
      workers: 2,
      modelEnv: { RULES: rules, RECORD: '1' },
      env: { WORKER_CAPACITY: '2' },
    });
    url = stack.gateways[0]?.url ?? '';
    await ask('PUT', '/agents/specialist', { description: 'Knows a part.', tools: ['current_time'] });
    await ask('PUT', '/agents/quartet', {
      description: 'Calls four.',
      collaboration: 'handoff',
      handoff: { timeoutMs: 60_000 },
      subAgents: TEAM.map((as) => ({ as, agent: 'specialist' })),
    });
  }, 90_000);
  afterAll(async () => {
    await stack.stop();
    rmSync(folder, { recursive: true });
  });

  test('R19: one called colleague is cancelled by its address; its call says so, the others go on', async () => {
    const { id } = await new SessionClient(url).open('quartet', 'Plan a picnic');
    await heldAt('picnic');
    const cancel = await fetch(`${url}/api/v1/sessions/${id}/agents/ben%231/cancel`, { method: 'POST' });
    expect(cancel.status).toBe(202);
    await model(stack, 'POST', '/barriers/picnic/release');
    const events = await eventsUntil(url, id, isDone);
    expect(events.at(-1)?.data).toMatchObject({ status: 'completed' });
    const [first, second, ...rest] = await resultsIn('picnic');
    expect(first).toMatchObject({ subagent: 'ann#1' });
    expect(second).toMatchObject({ errorType: 'handoff_cancelled', tool: 'subagent_ben' });
    expect(rest).toMatchObject([{ subagent: 'cleo#1' }, { subagent: 'dan#1' }]);
    expect(handoffEnds(events)).toEqual(['ann#1 completed', 'ben#1 failed', 'cleo#1 completed', 'dan#1 completed']);
  }, 60_000);

  test('contract 8: they run at once on two workers, and the death of one of these in the middle changes nothing of the outcome', async () => {
    const client = new SessionClient(url);
    const { id } = await client.open('quartet', 'Plan a party');
    await heldAt('party');
    const soFar = await eventsUntil(url, id, ({ event, data }) => event === 'rs' && data.status === 'waiting');
    const hosts = await hostsOf(id, soFar);
    expect([...hosts.values()].map((host) => host.split('@')[0]).sort()).toEqual([
      'worker-1',
      'worker-1',
      'worker-2',
      'worker-2',
    ]);

    await stack.workers[1]?.kill();
    await model(stack, 'POST', '/barriers/party/release');
    const events = await eventsUntil(url, id, isDone);

    expect(events.at(-1)?.data).toMatchObject({ status: 'completed' });
    expect((await resultsIn('party')).map(({ subagent }) => subagent)).toEqual(INSTANCES);
    expect(handoffEnds(events)).toEqual(INSTANCES.map((address) => `${address} completed`));
    const lost = events.filter(({ event, data }) => event === 'ax' && data.reason === 'lost');
    expect(lost.map(({ agentId }) => agentId).sort()).toEqual(
      INSTANCES.filter((address) => hosts.get(address)?.startsWith('worker-2')),
    );

    const messages = messagesOf(events);
    const tasks = messages.filter(({ type, from }) => type === 'task' && from === 'lead');
    expect(tasks.map(({ to }) => to)).toEqual(INSTANCES);
    for (const { msgId } of tasks)
      expect(messages.filter(({ type, inReplyTo }) => type === 'result' && inReplyTo === msgId)).toMatchObject([
        { status: 'ok' },
      ]);
  }, 90_000);

  test('the session shows each instance with its caller, its depth, its journal, and what it spent', async () => {
    const { sessions } = (await ask('GET', '/sessions')) as { sessions: { id: string }[] };
    for (const { id } of sessions) {
      const detail = await new SessionClient(url).detail(id);
      const instances = detail.agents.filter(({ caller }) => caller !== undefined);
      expect(instances).toMatchObject(INSTANCES.map((address) => ({ id: address, agent: 'specialist', depth: 1 })));
      expect(instances.every(({ caller }) => caller === 'lead')).toBe(true);
      expect(detail.openTasks).toEqual([]);

      const used = (await eventsUntil(url, id, isDone)).filter(({ event }) => event === 'u');
      for (const agent of detail.agents) {
        const own = used.filter(({ agentId }) => agentId === agent.id);
        expect(agent.usage).toMatchObject({
          calls: own.length,
          input: own.reduce((sum, { data }) => sum + Number(data.input), 0),
          output: own.reduce((sum, { data }) => sum + Number(data.output), 0),
        });
      }
      expect(detail.usage.calls).toBe(used.length);

      const account = sessionUsage.parse(await ask('GET', `/sessions/${id}/usage?rows=true&limit=200`));
      const answered = account.rows?.filter(({ status }) => status === 'ok') ?? [];
      expect(answered.map(({ instance, step }) => `${instance} ${step}`).sort()).toEqual(
        used.map(({ agentId, data }) => `${agentId} ${data.step}`).sort(),
      );
      expect(account.tree.calls).toBe(used.length);
      const called = account.byInstance.filter(({ parent }) => parent === 'lead');
      expect(called.map(({ instance }) => instance).sort()).toEqual(INSTANCES);
      const lead = account.byInstance.find(({ instance }) => instance === 'lead');
      expect(lead?.tree.calls).toBe(called.reduce((sum, { tree }) => sum + tree.calls, lead?.own.calls ?? 0));

      const { entries } = (await ask('GET', `/sessions/${id}/agents/dan%231/journal`)) as { entries: JournalEntry[] };
      expect(entries.map(({ kind }) => kind)).toEqual([
        'mail',
        'assistant',
        'tool',
        'assistant',
        'engine',
        'assistant',
      ]);
    }
    expect(sessions).toHaveLength(2);
  });

  async function ask(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** Resolves when all four are in the model at the same time. */
  async function heldAt(barrier: string): Promise<void> {
    for (;;) {
      const { barriers } = (await model(stack, 'GET', '/stats')) as { barriers: Record<string, { waiting: number }> };
      if ((barriers[barrier]?.waiting ?? 0) === TEAM.length) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The process of each instance, from the events that tell of their loading. */
  async function hostsOf(id: string, events: SessionEvent[]): Promise<Map<string, string>> {
    const hosts = new Map<string, string>();
    const see = ({ event, agentId = '', data }: SessionEvent) => {
      if (event === 'as') hosts.set(agentId, String(data.host));
      return hosts.size === TEAM.length;
    };
    events.forEach(see);
    if (hosts.size < TEAM.length) (await eventsUntil(url, id, see)).forEach(see);
    return hosts;
  }

  /** The results of the four calls as the lead's next request shows them. */
  async function resultsIn(request: string): Promise<Record<string, unknown>[]> {
    const bodies = (await model(stack, 'GET', '/requests')) as {
      messages: { role: string; content: string | null }[];
    }[];
    const ofLead = bodies.filter(
      ({ messages }) =>
        messages[0]?.content?.includes('Your address in this session: lead') === true &&
        messages[1]?.content?.includes(request) === true,
    );
    const results = ofLead.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
    return results.map(({ content }) => JSON.parse(content ?? '') as Record<string, unknown>);
  }

  const handoffEnds = (events: SessionEvent[]) =>
    events
      .filter(({ event }) => event === 'he')
      .map(({ data }) => `${data.to} ${data.status}`)
      .sort();
});
