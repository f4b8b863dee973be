import { type TraceSpan, trace, traceHead, traceSpan } from '@mailroom/contracts';
import { connect, RedisMailbox, SessionReader } from '@mailroom/mailbox';
import { type ScriptedModel, startScriptedModel } from '@mailroom/scripted-model';
import { testRedis } from '@mailroom/tools';
import { GatewayHarness } from './testing/gateway-harness';

const redis = testRedis();
let model: ScriptedModel;
let gateway: GatewayHarness;
let sessionId: string;

beforeAll(async () => {
  model = await startScriptedModel({ rules: [{ name: 'plain', say: 'You said: {{request}}' }] });
  gateway = await GatewayHarness.start({ redis, modelUrl: model.baseUrl });
  const opened = await gateway.ask('POST', '/api/v1/sessions?wait=10', { leadAgentId: 'solo', input: 'Hello you' });
  sessionId = opened.body.id;
  await gateway.ask('POST', `/api/v1/sessions/${sessionId}/messages?wait=10`, { content: 'And again' });
});
afterAll(async () => {
  await gateway?.close();
  await model?.close();
});

const read = (query = '', id = sessionId) => gateway.ask('GET', `/api/v1/sessions/${id}/trace${query}`);

async function lines(query: string): Promise<unknown[]> {
  const response = await fetch(`${gateway.url}/api/v1/sessions/${sessionId}/trace?format=jsonl${query}`);
  expect(response.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
  const text = await response.text();
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

test('the trace has the runs with their steps, and no contents unless they are asked for', async () => {
  const { status, headers, body } = await read();
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  const { spans, ...head } = trace.parse(body);
  expect(head).toEqual({ kind: 'trace', sessionId, status: 'open', truncated: false });
  expect(spans.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    'run ok',
    'message ok',
    'step ok',
    'model ok',
    'run ok',
    'message ok',
    'step ok',
    'model ok',
  ]);
  expect(JSON.stringify(body)).not.toMatch(/Hello you|And again|You said/);
});

test('?content=true shows what the model was sent and said', async () => {
  const { spans } = trace.parse((await read('?content=true')).body);
  const [, second] = spans.filter(({ kind }) => kind === 'model') as [TraceSpan, TraceSpan];
  const { sent, answer } = second.content as {
    sent: { messages: { role: string; content: string }[] };
    answer: unknown;
  };
  expect(sent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(sent.messages.at(-1)?.content).toContain('And again');
  expect(answer).toMatchObject({ content: expect.stringContaining('And again') });
});

test('?format=jsonl is the same, one object a line, the head first', async () => {
  for (const content of ['', '&content=true']) {
    const [head, ...spans] = await lines(content);
    const { body } = await read(`?${content}`);
    expect({ ...traceHead.parse(head), spans: spans.map((span) => traceSpan.parse(span)) }).toEqual(body);
  }
});

test('a session without a run has an empty trace', async () => {
  const { body } = await gateway.ask('POST', '/api/v1/sessions', { leadAgentId: 'solo' });
  expect((await read('', body.id)).body).toMatchObject({ sessionId: body.id, spans: [] });
});

test('a trace of another space is as little there as one of no session', async () => {
  const store = connect({ url: redis.url, name: 'test', mood: 'patient' });
  const id = `ses_${'a'.repeat(32)}`;
  await new RedisMailbox(store, { prefix: redis.prefix, activate: () => undefined }).openSession({
    id,
    space: 'other',
    leadAgentId: 'solo',
    roster: [],
    metadata: {},
    fingerprint: '',
    settings: {},
  });
  expect(await new SessionReader(store, redis.prefix).summary('other', id)).toBeDefined();
  store.disconnect();
  for (const foreign of [id, `ses_${'0'.repeat(32)}`, 'nonsense'])
    for (const query of ['', '?format=jsonl&content=true'])
      expect(await read(query, foreign)).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('a query that is none is refused', async () => {
  expect(await read('?format=xml')).toMatchObject({ status: 400, body: { errors: [{ path: 'format' }] } });
  expect(await read('?content=maybe')).toMatchObject({ status: 400, body: { errors: [{ path: 'content' }] } });
});
