import { connect } from 'node:net';
import { testRedis } from '@mailroom/tools';
import { GatewayHarness } from './testing/gateway-harness';

const redis = testRedis();
let gateway: GatewayHarness;

beforeAll(async () => {
  gateway = await GatewayHarness.start({ redis, modelUrl: 'http://127.0.0.1:9/v1' });
});
afterAll(() => gateway?.close());

const post = (body: unknown, headers: Record<string, string> = {}) =>
  gateway.ask('POST', '/api/v1/sessions', body, headers);

test('a problem has the shape of RFC 9457, a code and the id of the request', async () => {
  const { status, headers, body } = await gateway.ask('GET', '/api/v1/nothing', undefined, { 'x-request-id': 'req-7' });
  expect(status).toBe(404);
  expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(headers.get('x-request-id')).toBe('req-7');
  expect(body).toEqual({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'there is no GET /api/v1/nothing',
    code: 'not_found',
    requestId: 'req-7',
  });
});

test('a request id that is no plain word is replaced', async () => {
  const { headers } = await gateway.ask('GET', '/health/live', undefined, { 'x-request-id': 'a b<c>' });
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('each fault of a body is told with its path', async () => {
  const { status, body } = await post({
    leadAgentId: 'user',
    input: '',
    metadata: { a: 1 },
    budget: { calls: 0 },
    more: 1,
  });
  expect(status).toBe(400);
  expect(body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
    '',
    'budget.calls',
    'input',
    'leadAgentId',
    'metadata.a',
  ]);
});

test.each([
  ['what is no JSON', '{"leadAgentId": ', /not valid JSON/],
  ['a missing body', '', /object/],
  ['nesting over 32', `{"metadata": ${'['.repeat(40)}${']'.repeat(40)}}`, /nested deeper than 32/],
])('%s is an invalid request', async (_name, text, detail) => {
  expect(await post(text)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', detail: expect.stringMatching(detail) },
  });
});

test('a body of another content type is not read', async () => {
  const answer = await post('{"leadAgentId": "solo"}', { 'content-type': 'text/plain' });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});

test('a body over 256 KiB is too large', async () => {
  expect(await post({ leadAgentId: 'solo', input: 'x'.repeat(300_000) })).toMatchObject({
    status: 413,
    body: { code: 'payload_too_large' },
  });
});

test.each(['?wait=0', '?wait=121', '?wait=x', '?wait=1&wait=2'])('%s is refused', async (query) => {
  const answer = await gateway.ask('POST', `/api/v1/sessions${query}`, { leadAgentId: 'solo' });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'wait' }] } });
});

test.each(['?limit=0', '?limit=201', '?cursor=-1', '?cursor=x'])('GET /sessions%s is refused', async (query) => {
  expect(await gateway.ask('GET', `/api/v1/sessions${query}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  });
});

test('a broken percent sign in the address is an invalid request', async () => {
  expect(await gateway.ask('GET', '/api/v1/sessions/%E0%A4%A')).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  });
});

test('the framework does not name itself', async () => {
  const { headers } = await gateway.ask('GET', '/health/live');
  expect(headers.get('x-powered-by')).toBeNull();
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('health tells that the process lives, is ready, and how full it is', async () => {
  expect(await gateway.ask('GET', '/health/live')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await gateway.ask('GET', '/health/ready')).toMatchObject({
    status: 200,
    body: { status: 'ok', load: { hosted: 0, idle: 0, capacity: 2_000 } },
  });
});

test('the board shows the three queues and changes nothing', async () => {
  expect((await gateway.ask('GET', '/admin/queues')).status).toBe(200);
  const { body } = await gateway.ask('GET', '/admin/queues/api/queues');
  const seen = body.queues.map(({ name, readOnlyMode }: Record<string, unknown>) => [name, readOnlyMode]);
  expect(seen.sort()).toEqual([
    ['lead-agents', true],
    ['sub-agents', true],
    ['sweeper', true],
  ]);
  const { status } = await gateway.ask('PUT', '/admin/queues/api/queues/lead-agents/pause');
  expect(status).toBeGreaterThanOrEqual(400);
});

test('a client that leaves while it sends does no harm', async () => {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    'POST /api/v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"a',
  );
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.destroy();
  expect((await gateway.ask('GET', '/health/ready')).status).toBe(200);
});
