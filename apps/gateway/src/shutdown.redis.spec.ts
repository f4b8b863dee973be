import { type ScriptedModel, startScriptedModel } from '@mailroom/scripted-model';
import { testRedis } from '@mailroom/tools';
import { GatewayHarness } from './testing/gateway-harness';

const redis = testRedis();
let model: ScriptedModel;

beforeAll(async () => {
  model = await startScriptedModel({
    rules: [{ name: 'held', when: { request: 'hold' }, hold: { name: 'gate' }, say: 'held answer' }],
  });
});
afterAll(() => model?.close());

test('a gateway that stops ends streams and waits, and another one finishes its run', async () => {
  const leaving = await GatewayHarness.start({ redis, modelUrl: model.baseUrl });
  const { body: session } = await leaving.ask('POST', '/api/v1/sessions', { leadAgentId: 'solo' });
  const stream = await leaving.stream(`/api/v1/sessions/${session.id}/events`);
  const waiting = leaving.ask('POST', `/api/v1/sessions/${session.id}/messages?wait=120`, { content: 'hold' });
  await model.held('gate');
  const staying = await GatewayHarness.start({ redis, modelUrl: model.baseUrl });
  try {
    await Promise.all([leaving.close(), stream.ended()]);
    const { status, body } = await waiting;
    expect([status, body.status]).toEqual([202, 'running']);
    await expect(leaving.ask('GET', '/health/live')).rejects.toThrow();
    model.release('gate');
    const after = await staying.stream(`/api/v1/sessions/${session.id}/events`);
    const events = await after.until((read) => read.events.some(({ event }) => event === 'done'));
    expect(events.filter(({ event }) => event === 'done')).toMatchObject([{ data: { status: 'completed' } }]);
    after.close();
  } finally {
    await staying.close();
  }
});
