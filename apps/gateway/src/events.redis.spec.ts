import { connect } from 'node:net';
import type { SessionEvent } from '@mailroom/contracts';
import { type ScriptedModel, startScriptedModel } from '@mailroom/scripted-model';
import { SessionClient, testRedis } from '@mailroom/tools';
import { Redis } from 'ioredis';
import { GatewayHarness } from './testing/gateway-harness';

const redis = testRedis();
const HOSTILE = 'a\r\nevent: done\rdata: fake\n\nid: 9-9\u2028\u0000"\\ 👋';
let model: ScriptedModel;
let gateway: GatewayHarness;
let store: Redis;

beforeAll(async () => {
  store = new Redis(redis.url);
  model = await startScriptedModel({
    rules: [
      { name: 'held', when: { request: 'hold' }, hold: { name: 'gate' }, say: 'held answer' },
      { name: 'plain', say: 'You said: {{request}}' },
    ],
  });
  gateway = await GatewayHarness.start({ redis, modelUrl: model.baseUrl, config: { ssePingMs: 50 } });
});
afterAll(async () => {
  await gateway?.close();
  await model?.close();
  store.disconnect();
});

const open = async (input?: string): Promise<string> => {
  const { body } = await gateway.ask('POST', `/api/v1/sessions${input ? '?wait=10' : ''}`, {
    leadAgentId: 'solo',
    input,
  });
  return body.id;
};
const post = (id: string, content: string, wait = '?wait=10') =>
  gateway.ask('POST', `/api/v1/sessions/${id}/messages${wait}`, { content });
const events = (id: string, query = '', headers?: Record<string, string>) =>
  gateway.stream(`/api/v1/sessions/${id}/events${query}`, headers);
const log = async (id: string, query = '') =>
  (await gateway.ask('GET', `/api/v1/sessions/${id}/events/log${query}`)).body;
const isDone = ({ event }: SessionEvent) => event === 'done';
const ids = (list: SessionEvent[]) => list.map(({ id }) => id);

test('the headers come at once, before the first event', async () => {
  const stream = await events(await open());
  expect(stream.response.status).toBe(200);
  expect(Object.fromEntries(stream.response.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': expect.any(String),
  });
  expect(stream.response.headers.get('content-length')).toBeNull();
  stream.close();
});

test('events come live, once and in the order of the log, each with id, code and envelope', async () => {
  const id = await open();
  const stream = await events(id);
  await post(id, 'one');
  const seen = await stream.until(({ events }) => events.some(isDone));
  expect(seen).toEqual((await log(id)).events.slice(0, seen.length));
  expect(seen.at(-1)).toMatchObject({ event: 'done', type: 'run.done', data: { status: 'completed' } });
  expect(new Set(ids(seen)).size).toBe(seen.length);
  stream.close();
});

test('content cannot forge an event, and arrives unchanged', async () => {
  const id = await open();
  await post(id, HOSTILE);
  const stream = await events(id);
  const seen = await stream.until(({ events }) => events.some(isDone));
  expect(seen.filter(isDone)).toHaveLength(1);
  expect(ids(seen)).not.toContain('9-9');
  expect(seen.find(({ event }) => event === 'am')?.data.content).toBe(HOSTILE);
  stream.close();
});

test('a stream resumes after Last-Event-ID on another gateway, which wins over ?after', async () => {
  const other = await GatewayHarness.start({ redis, modelUrl: model.baseUrl });
  try {
    const id = await open('one');
    const all: SessionEvent[] = (await log(id)).events;
    const [first] = all;
    const stream = await other.stream(`/api/v1/sessions/${id}/events?after=${all.at(-1)?.id}`, {
      'last-event-id': first?.id ?? '',
    });
    expect(ids(await stream.until(({ events }) => events.some(isDone)))).toEqual(
      ids(all.slice(1)).slice(0, all.length - 1),
    );
    stream.close();
  } finally {
    await other.close();
  }
});

test('a reader whose connection breaks again and again sees every event once and in order', async () => {
  const id = await open();
  const client = new SessionClient(gateway.url);
  const leave = new AbortController();
  const running = post(id, 'one');
  const seen: SessionEvent[] = [];
  while (!seen.some(isDone)) {
    const once = new AbortController();
    const after = seen.at(-1)?.id;
    for await (const event of client.events(id, { ...(after && { after }), signal: once.signal })) {
      seen.push(event);
      once.abort();
      break;
    }
  }
  leave.abort();
  await running;
  expect(ids(seen)).toEqual(ids((await log(id)).events).slice(0, seen.length));
});

test('a cursor whose successors were trimmed gets one reset event and then all that is there', async () => {
  const id = await open('one');
  const all: SessionEvent[] = (await log(id)).events;
  const [key] = await store.keys(`${redis.prefix}:events:*${id}`);
  await store.xtrim(key ?? '', 'MAXLEN', 2);
  const stream = await events(id, '', { 'last-event-id': all[0]?.id ?? '' });
  const seen = await stream.until((read) => read.events.length === 3);
  expect(seen[0]).toMatchObject({ event: 'reset', id: '0-0', data: { after: all[0]?.id } });
  expect(ids(seen.slice(1))).toEqual(ids(all.slice(-2)));
  stream.close();
});

test('?types and ?agents choose events, in the stream and in the log', async () => {
  const id = await open('one');
  const stream = await events(id, '?types=am,done&agents=LEAD');
  const seen = await stream.until(({ events }) => events.some(isDone));
  expect(seen.map(({ event, agentId }) => [event, agentId])).toEqual([['done', 'lead']]);
  stream.close();
  const { events: sent } = await log(id, '?types=am&agents=user');
  expect(sent.map(({ event, agentId }: SessionEvent) => [event, agentId])).toEqual([['am', 'user']]);
});

test('the log comes in pages', async () => {
  const id = await open('one');
  const all: SessionEvent[] = (await log(id)).events;
  const found: SessionEvent[] = [];
  let after = '';
  for (;;) {
    const page = await log(id, `?limit=2&after=${after}`);
    found.push(...page.events);
    if (!page.next) break;
    after = page.next;
  }
  expect(found).toEqual(all);
});

test.each(['?after=x', '?after=5', '?types=am,nope', '?after=99999999999999999999-0'])(
  '%s is refused',
  async (query) => {
    const id = await open();
    for (const path of ['/events', '/events/log'])
      expect(await gateway.ask('GET', `/api/v1/sessions/${id}${path}${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
  },
);

test('a Last-Event-ID that is no id is refused', async () => {
  const answer = await gateway.ask('GET', `/api/v1/sessions/${await open()}/events`, undefined, {
    'last-event-id': 'x',
  });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'Last-Event-ID' }] } });
});

test('in silence there are comments, which are no events', async () => {
  const stream = await events(await open());
  await stream.until(({ text }) => text.split(': ping\n\n').length > 2);
  expect(stream.events).toEqual([]);
  stream.close();
});

test('a stream ends when its session has ended and everything was sent', async () => {
  const id = await open();
  const stream = await events(id);
  const running = post(id, 'hold');
  await model.held('gate');
  await gateway.ask('DELETE', `/api/v1/sessions/${id}`);
  const seen = await stream.ended();
  expect(seen).toEqual((await log(id)).events);
  expect(seen.filter(isDone)).toMatchObject([{ data: { status: 'cancelled' } }]);
  expect((await running).body.status).toBe('cancelled');
});

test('the stream of a session that ended before gives what there is and ends', async () => {
  const id = await open('one');
  await gateway.ask('DELETE', `/api/v1/sessions/${id}`);
  const all = (await log(id)).events;
  expect(await (await events(id)).ended()).toEqual(all);
  expect(await (await events(id, `?after=${all.at(-1).id}`)).ended()).toEqual([]);
});

test('a client that leaves, also during set-up, leaves no subscription behind', async () => {
  const id = await open();
  const { hostname, port } = new URL(gateway.url);
  const request = `GET /api/v1/sessions/${id}/events HTTP/1.1\r\nhost: x\r\n\r\n`;
  for (let n = 0; n < 50; n++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const isOpen = new Promise((resolve) => socket.once('connect', resolve));
    socket.write(request);
    await isOpen;
    // Some leave before the request is read, some while the stream is set up, some after its headers.
    if (n % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
    if (n % 3 === 2) await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
  }
  const channels = () => store.pubsub('SHARDCHANNELS', `${redis.prefix}:events:notify:*${id}`) as Promise<string[]>;
  for (let left = await channels(); left.length > 0; left = await channels());
  expect((await gateway.ask('GET', '/health/ready')).status).toBe(200);
});
