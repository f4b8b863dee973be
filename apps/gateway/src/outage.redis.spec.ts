import { type ScriptedModel, startScriptedModel } from '@mailroom/scripted-model';
import { type RunningRedis, startRedis } from '@mailroom/tools';
import { Redis } from 'ioredis';
import { GatewayHarness } from './testing/gateway-harness';

let redis: RunningRedis;
let model: ScriptedModel;
let gateway: GatewayHarness;

beforeAll(async () => {
  redis = await startRedis({ url: undefined, appendonly: true });
  model = await startScriptedModel({ rules: [{ name: 'plain', say: 'You said: {{request}}' }] });
  gateway = await GatewayHarness.start({
    redis: { url: redis.url, prefix: 'outage' },
    modelUrl: model.baseUrl,
    env: { WORKER_CAPACITY: '10' },
  });
});
afterAll(async () => {
  await gateway?.close();
  await model?.close();
  await redis?.stop();
});

test('while Redis is away requests fail at once, and afterwards all goes on, open streams included', async () => {
  const { body: session } = await gateway.ask('POST', '/api/v1/sessions', { leadAgentId: 'solo' });
  const stream = await gateway.stream(`/api/v1/sessions/${session.id}/events`);
  await redis.kill();
  const isDown = async () => (await gateway.ask('GET', '/health/ready')).status === 503;
  while (!(await isDown()));
  for (const [method, path, body] of [
    ['POST', '/api/v1/sessions', { leadAgentId: 'solo', input: 'x' }],
    ['GET', `/api/v1/sessions/${session.id}`, undefined],
    ['GET', '/api/v1/agents', undefined],
  ] as const) {
    const answer = await gateway.ask(method, path, body);
    expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    expect(JSON.stringify(answer.body)).not.toMatch(/redis:\/\/|ECONN|enableOfflineQueue/);
  }
  expect((await gateway.ask('GET', '/health/live')).status).toBe(200);
  await redis.restart();
  while (await isDown());
  const answer = await gateway.ask('POST', `/api/v1/sessions/${session.id}/messages?wait=10`, { content: 'again' });
  expect(answer).toMatchObject({ status: 200, body: { status: 'completed' } });
  await stream.until(({ events }) => events.some(({ event }) => event === 'done'));
  stream.close();
  // BullMQ cannot close a consumer whose fetch is not connected again.
  const store = new Redis(redis.url);
  const fetches = async () => String(await store.client('LIST')).match(/cmd=bzpopmin/g)?.length;
  while ((await fetches()) !== 2);
  store.disconnect();
});
