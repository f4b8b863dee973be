import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SessionUsage, type SpaceUsage, sessionUsage, spaceUsage } from '@mailroom/contracts';
import { type ScriptedModel, startScriptedModel } from '@mailroom/scripted-model';
import { testRedis } from '@mailroom/tools';
import { GatewayHarness } from './testing/gateway-harness';

const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'prices-'));
const prices = join(folder, 'prices.json');
let model: ScriptedModel;
let gateway: GatewayHarness;

beforeEach(async () => {
  model = await startScriptedModel({ rules: [{ name: 'plain', say: 'You said: {{request}}' }] });
});
afterEach(async () => {
  await gateway?.close();
  await model?.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function start(env: Record<string, string> = {}): Promise<void> {
  gateway = await GatewayHarness.start({ redis, modelUrl: model.baseUrl, env });
}
async function answered(input: string, budget = {}): Promise<string> {
  const body = { leadAgentId: 'solo', input, budget };
  const opened = await gateway.ask('POST', '/api/v1/sessions?wait=10', body);
  expect(opened).toMatchObject({ status: 200, body: { run: { status: 'completed' } } });
  return opened.body.id;
}
async function usageOf(id: string, query = ''): Promise<SessionUsage> {
  return sessionUsage.strict().parse((await gateway.ask('GET', `/api/v1/sessions/${id}/usage${query}`)).body);
}
async function spaceUsageOf(query: string): Promise<SpaceUsage> {
  return spaceUsage.strict().parse((await gateway.ask('GET', `/api/v1/usage?${query}`)).body);
}

test('R21: what a session has spent is, call for call, what the model served', async () => {
  await start();
  const id = await answered('one');
  await gateway.ask('POST', `/api/v1/sessions/${id}/messages?wait=10`, { content: 'two' });
  const { rows, ...usage } = await usageOf(id, '?rows=true');
  expect(rows?.map(({ responseId, input, output }) => ({ id: responseId, rule: 'plain', input, output }))).toEqual(
    model.served(),
  );
  const totals = {
    calls: 2,
    input: model.served().reduce((sum, { input }) => sum + input, 0),
    output: model.served().reduce((sum, { output }) => sum + output, 0),
    cached: 0,
    reasoning: 0,
    unpricedCalls: 2,
    failedCalls: 0,
    lostCalls: 0,
  };
  expect(usage).toMatchObject({ sessionId: id, own: totals, tree: totals });
  expect(usage.byAgent).toEqual([{ agent: 'solo', ...totals }]);
  expect(usage.byInstance).toEqual([{ instance: 'lead', agent: 'solo', own: totals, tree: totals }]);
  expect(usage.byModel).toEqual([{ model: 'scripted', ...totals }]);
  expect(usage.byRun.map(({ calls }) => calls)).toEqual([1, 1]);
});

test('the rows come in pages, and only when they are asked for', async () => {
  await start();
  const id = await answered('one');
  await gateway.ask('POST', `/api/v1/sessions/${id}/messages?wait=10`, { content: 'two' });
  const first = await usageOf(id, '?rows=true&limit=1');
  expect(first).toMatchObject({ rows: [{ step: 1 }], next: '1', tree: { calls: 2 } });
  const rest = await usageOf(id, `?rows=true&limit=1&cursor=${first.next}`);
  expect(rest.rows).toMatchObject([{ step: 2 }]);
  expect(rest.next).toBeUndefined();
  expect((await usageOf(id)).rows).toBeUndefined();
  expect(await gateway.ask('GET', `/api/v1/sessions/${id}/usage?rows=yes`)).toMatchObject({ status: 400 });
});

test('R21: a model of PRICES_FILE has a cost, and a budget of cost holds it', async () => {
  writeFileSync(prices, '{"scripted": {"input": 1000, "output": 2000}}');
  await start({ PRICES_FILE: prices });
  const id = await answered('one', { cost: 0.05, run: { tokens: 1_000_000 } });
  const [served] = model.served();
  const cost = Number(served?.input) / 1_000 + Number(served?.output) / 500;
  const { tree } = await usageOf(id);
  expect(tree).toMatchObject({ unpricedCalls: 0, cost: expect.closeTo(cost, 6) });
  expect(tree.cost).toBeGreaterThan(0.05);
  const { body } = await gateway.ask('GET', `/api/v1/sessions/${id}`);
  expect(body).toMatchObject({ usage: { cost: tree.cost }, run: { usage: { cost: tree.cost } } });
  expect(await gateway.ask('POST', `/api/v1/sessions/${id}/messages`, { content: 'two' })).toMatchObject({
    status: 409,
    body: { code: 'budget_spent', detail: expect.stringContaining('cost') },
  });
});

test('a price file that does not fit ends the start with the place', async () => {
  writeFileSync(prices, '{"scripted": {"input": "much", "output": 1}}');
  await expect(start({ PRICES_FILE: prices })).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(/PRICES_FILE.*scripted\.input/),
  });
});

test('the space is asked for a time, by default the last 24 hours', async () => {
  await start();
  const before = new Date().toISOString();
  const ids = [await answered('one'), await answered('two')];
  const after = new Date(Date.now() + 1_000).toISOString();
  const { groups, total } = await spaceUsageOf(`from=${before}&to=${after}`);
  expect(groups.map(({ key, calls }) => [key, calls])).toEqual(ids.map((id) => [id, 1]));
  expect(total.calls).toBe(2);
  expect((await spaceUsageOf('')).groups.map(({ key }) => key)).toEqual(expect.arrayContaining(ids));
  expect((await spaceUsageOf(`from=${after}`)).total.calls).toBe(0);
  expect((await spaceUsageOf(`from=${before}&groupBy=day`)).groups[0]?.key).toBe(before.slice(0, 10));
  expect((await spaceUsageOf(`from=${before}&groupBy=agent`)).groups).toMatchObject([{ key: 'solo', calls: 2 }]);
  expect((await spaceUsageOf(`from=${before}&groupBy=model`)).groups).toMatchObject([{ key: 'scripted', calls: 2 }]);
});

test.each(['from=yesterday', 'groupBy=mood', 'from=2026-11-30T10:00:00Z&to=2026-11-30T09:00:00Z'])(
  'a query that cannot be answered is told: %s',
  async (query) => {
    await start();
    expect(await gateway.ask('GET', `/api/v1/usage?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  },
);
