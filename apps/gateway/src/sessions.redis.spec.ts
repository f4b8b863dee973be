import { run } from '@mailroom/contracts';
import { type ScriptedModel, startScriptedModel } from '@mailroom/scripted-model';
import { testRedis } from '@mailroom/tools';
import { type Answer, GatewayHarness } from './testing/gateway-harness';

const redis = testRedis();
const NOWHERE = `ses_${'0'.repeat(32)}`;
let model: ScriptedModel;
let gateway: GatewayHarness;

beforeEach(async () => {
  model = await startScriptedModel({
    rules: [
      { name: 'held', when: { request: 'hold' }, hold: { name: 'gate' }, say: 'held answer' },
      { name: 'plain', say: 'You said: {{request}}' },
    ],
  });
  gateway = await GatewayHarness.start({ redis, modelUrl: model.baseUrl });
});
afterEach(async () => {
  await gateway?.close();
  await model?.close();
});

const post = (path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> =>
  gateway.ask('POST', `/api/v1/sessions${path}`, body, headers);
const read = (path: string): Promise<Answer> => gateway.ask('GET', `/api/v1/sessions${path}`);

test('a session without an input has no run and no loaded agent', async () => {
  const opened = await post('', { leadAgentId: 'boss', metadata: { ticket: '7' } });
  expect(opened.status).toBe(201);
  expect(opened.body).toEqual({ id: expect.stringMatching(/^ses_[0-9a-f]{32}$/), status: 'open', leadAgentId: 'boss' });
  expect(opened.headers.get('location')).toBe(`/api/v1/sessions/${opened.body.id}`);
  const { body } = await read(`/${opened.body.id}`);
  expect(body).toMatchObject({ metadata: { ticket: '7' }, openTasks: [], openQuestions: [] });
  expect(body.agents.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
    ['lead', 'unloaded'],
    ['alice', 'unloaded'],
  ]);
});

test('with an input and ?wait the answer has the settled run', async () => {
  const { status, body } = await post('?wait=10', { leadAgentId: 'solo', input: 'Hello' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'open', leadAgentId: 'solo' });
  expect(body.run).toMatchObject({ status: 'completed', output: expect.stringContaining('You said: Hello') });
  expect(run.parse(body.run).usage.calls).toBe(1);
  expect((await read(`/${body.id}/runs/${body.run.id}`)).body).toEqual(body.run);
});

test('without ?wait the run is answered as it is', async () => {
  const { status, body } = await post('', { leadAgentId: 'solo', input: 'hold' });
  expect(status).toBe(201);
  expect(['queued', 'running']).toContain(body.run.status);
  model.release('gate');
});

test('a message is accepted with its run, and ?wait answers with the settled run', async () => {
  const { body: session } = await post('', { leadAgentId: 'solo' });
  const accepted = await post(`/${session.id}/messages`, { content: 'one' });
  expect(accepted.status).toBe(202);
  expect(accepted.body).toEqual({ msgId: expect.stringMatching(/^msg_[0-9a-f]{12}$/), runId: expect.any(String) });
  const waited = await post(`/${session.id}/messages?wait=10`, { content: 'two' });
  expect(waited.status).toBe(200);
  expect(waited.body).toMatchObject({ id: waited.body.runId, status: 'completed', msgId: expect.any(String) });
});

test('when the time of ?wait is over the answer has the run as it is, and the run goes on', async () => {
  const { body: session } = await post('', { leadAgentId: 'solo' });
  const { status, body } = await post(`/${session.id}/messages?wait=1`, { content: 'hold' });
  expect(status).toBe(202);
  expect(body).toMatchObject({ id: body.runId, status: 'running' });
  const opened = await post('?wait=1', { leadAgentId: 'solo', input: 'hold' });
  expect(opened).toMatchObject({ status: 202, body: { run: { status: 'running' } } });
  model.release('gate');
});

test('R18: a message during a run steers it, or is refused when it asks for that', async () => {
  const { body } = await post('', { leadAgentId: 'solo', input: 'hold' });
  await model.held('gate');
  const refused = await post(`/${body.id}/messages`, { content: 'more', onBusy: 'reject' });
  expect(refused).toMatchObject({ status: 409, body: { code: 'run_busy' } });
  const steered = await post(`/${body.id}/messages`, { content: 'more' });
  expect(steered).toMatchObject({ status: 202, body: { runId: body.run.id } });
  model.release('gate');
});

test('a repeated request with an Idempotency-Key gets the same session and run, another one under the key is refused', async () => {
  const key = { 'idempotency-key': 'k-1' };
  const first = await post('', { leadAgentId: 'solo', input: 'Hello' }, key);
  const second = await post('', { input: 'Hello', leadAgentId: 'solo' }, key);
  expect([second.body.id, second.body.run.id]).toEqual([first.body.id, first.body.run.id]);
  const other = await post('', { leadAgentId: 'solo', input: 'Goodbye' }, key);
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
  const { body } = await read(`/${first.body.id}/messages`);
  expect(body.messages.filter(({ from }: { from: string }) => from === 'user')).toHaveLength(1);
});

test('R3: a repeated message with an Idempotency-Key is stored once and answered alike', async () => {
  const { body: session } = await post('', { leadAgentId: 'solo' });
  const send = () => post(`/${session.id}/messages`, { content: 'one' }, { 'idempotency-key': 'm-1' });
  const [first, second] = [await send(), await send()];
  expect(second.body).toEqual(first.body);
  expect((await read(`/${session.id}/messages`)).body.messages[0]).toMatchObject({ msgId: first.body.msgId, seq: 1 });
  const other = await post(`/${session.id}/messages`, { content: 'two' }, { 'idempotency-key': 'm-1' });
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
});

test('an Idempotency-Key that is no visible text is refused', async () => {
  const answer = await post('', { leadAgentId: 'solo' }, { 'idempotency-key': 'x'.repeat(256) });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'Idempotency-Key' }] } });
});

test('a lead that is missing or not ACTIVE is refused', async () => {
  expect(await post('', { leadAgentId: 'nobody' })).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
  expect(await post('', { leadAgentId: 'retired' })).toMatchObject({
    status: 409,
    body: { code: 'agent_unavailable' },
  });
});

test('R21: the budget of a session ends its runs', async () => {
  const { body } = await post('?wait=10', { leadAgentId: 'solo', input: 'one', budget: { calls: 1 } });
  expect(body.run.status).toBe('completed');
  const refused = await post(`/${body.id}/messages`, { content: 'two' });
  expect(refused).toMatchObject({ status: 409, body: { code: 'budget_spent' } });
});

test('R7: an input over 64 KiB is refused, one of exactly that is taken', async () => {
  const { body: session } = await post('', { leadAgentId: 'solo' });
  expect(await post(`/${session.id}/messages`, { content: 'ä'.repeat(32_768) })).toMatchObject({ status: 202 });
  expect(await post(`/${session.id}/messages`, { content: `${'ä'.repeat(32_768)}x` })).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'content', message: expect.stringContaining('65536') }] },
  });
});

test('R19: cancel ends the run at once, and again changes nothing', async () => {
  const { body } = await post('', { leadAgentId: 'solo', input: 'hold' });
  await model.held('gate');
  const cancelled = await post(`/${body.id}/cancel`, { reason: 'wrong question' });
  expect(cancelled).toMatchObject({ status: 202, body: { runId: body.run.id } });
  const { body: run } = await read(`/${body.id}/runs/${body.run.id}`);
  expect(run).toMatchObject({ status: 'cancelled', reason: 'wrong question' });
  expect(await post(`/${body.id}/cancel`)).toMatchObject({ status: 202, body: {} });
});

test('one agent is cancelled by its name in any case; a stranger is not found', async () => {
  const { body } = await post('', { leadAgentId: 'boss' });
  expect((await post(`/${body.id}/agents/ALICE/cancel`, {})).status).toBe(202);
  expect(await post(`/${body.id}/agents/bob/cancel`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('DELETE ends the session: reads still work, writes do not, and again changes nothing', async () => {
  const { body } = await post('?wait=10', { leadAgentId: 'solo', input: 'one' });
  const end = () => gateway.ask('DELETE', `/api/v1/sessions/${body.id}`);
  expect([(await end()).status, (await end()).status]).toEqual([204, 204]);
  expect((await read(`/${body.id}`)).body).toMatchObject({ status: 'closed', run: { status: 'completed' } });
  const refused = await post(`/${body.id}/messages`, { content: 'two' });
  expect(refused).toMatchObject({ status: 409, body: { code: 'session_closed' } });
  expect(await post(`/${body.id}/cancel`)).toMatchObject({ status: 409, body: { code: 'session_closed' } });
});

test('sessions are listed newest first, in pages', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await post('', { leadAgentId: 'solo', metadata: { n: String(n) } })).body.id);
  const first = (await read('?limit=2')).body;
  expect(first.sessions.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
  const second = (await read(`?limit=1&cursor=${first.next}`)).body;
  expect(second.sessions.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
});

test('the ledger comes in pages, the threads as trees, the journal by agent', async () => {
  const { body } = await post('?wait=10', { leadAgentId: 'solo', input: 'one' });
  await post(`/${body.id}/messages?wait=10`, { content: 'two' });
  const first = (await read(`/${body.id}/messages?limit=1`)).body;
  expect(first).toMatchObject({ messages: [{ from: 'user', content: 'one' }], next: '1' });
  const rest = (await read(`/${body.id}/messages?cursor=${first.next}`)).body;
  expect(rest).toMatchObject({ messages: [{ from: 'user', content: 'two' }] });
  expect(rest.next).toBeUndefined();
  expect((await read(`/${body.id}/threads`)).body.threads).toMatchObject([
    { content: 'one', replies: [] },
    { content: 'two', replies: [] },
  ]);
  const { entries } = (await read(`/${body.id}/agents/lead/journal`)).body;
  expect(entries.map(({ kind }: { kind: string }) => kind)).toEqual(['mail', 'assistant', 'mail', 'assistant']);
});

test.each([
  ['GET', ''],
  ['GET', '/runs/run_1'],
  ['GET', '/events'],
  ['GET', '/events/log'],
  ['GET', '/messages'],
  ['GET', '/threads'],
  ['GET', '/usage'],
  ['GET', '/agents/lead/journal'],
  ['POST', '/cancel'],
  ['POST', '/agents/lead/cancel'],
  ['DELETE', ''],
])('an unknown session is not found: %s %s', async (method, path) => {
  for (const id of [NOWHERE, 'nonsense', '..%2f..'])
    expect(await gateway.ask(method, `/api/v1/sessions/${id}${path}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found', detail: expect.stringMatching(/^there is no session/) },
    });
});

test('an unknown run or agent of a known session is not found', async () => {
  const { body } = await post('', { leadAgentId: 'solo' });
  expect(await read(`/${body.id}/runs/run_0`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await read(`/${body.id}/agents/bob/journal`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
});
