import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway, readConfig as gatewayConfig } from '@mailroom/gateway';
import type { Service } from '@mailroom/hosting';
import { type ScriptedModel, startScriptedModel } from '@mailroom/scripted-model';
import { testRedis } from '@mailroom/tools';
import { pino } from 'pino';
import { readConfig } from './config';
import { createWorker } from './create-worker';

const redis = testRedis();
const logger = pino({ level: 'silent' });
let folder: string;
let model: ScriptedModel;
let env: NodeJS.ProcessEnv;
let gateway: Service;
const workers: Service[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agents-'));
  await writeFile(join(folder, 'boss.md'), '---\ndescription: leads\nsubAgents: [alice]\n---\nYou lead.');
  await writeFile(join(folder, 'alice.md'), '---\ndescription: helps\n---\nYou help.');
  model = await startScriptedModel({
    rules: [
      {
        name: 'lead gives',
        when: { role: 'lead', lacks: [{ sent: 'task' }] },
        call: [
          { tool: 'send_message', with: { to: 'alice', type: 'task', content: 'do it' } },
          { tool: 'wait_for_messages' },
        ],
      },
      { name: 'lead joins', when: { role: 'lead' }, say: 'joined: {{results}}' },
      { name: 'alice reports', when: { role: 'sub-agent' }, say: 'report of alice' },
    ],
  });
  env = {
    PORT: '0',
    WORKER_PORT: '0',
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    OPENAI_BASE_URL: model.baseUrl,
    AGENTS_DIR: folder,
    SWEEP_MS: '200',
  };
  gateway = await createGateway(gatewayConfig(env), logger);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  await gateway?.close();
  await model?.close();
  await rm(folder, { recursive: true });
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const ask = async (path: string, body?: unknown): Promise<any> => {
  const response = await fetch(`${gateway.url}/api/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.json();
};

test('sub-agents run in workers: a task given while there is none is done by the first that starts', async () => {
  const { id, run } = await ask('/sessions', { leadAgentId: 'boss', input: 'go' });
  const worker = await createWorker(readConfig({ ...env, PROCESS_NAME: 'worker-a' }), logger);
  workers.push(worker);
  await ask(`/sessions/${id}/messages?wait=10`, { content: 'and?' });
  const settled = await ask(`/sessions/${id}/runs/${run.id}`);
  expect(settled).toMatchObject({
    id: run.id,
    status: 'completed',
    output: expect.stringContaining('report of alice'),
  });
  const { events } = await ask(`/sessions/${id}/events/log?types=as,ax&agents=alice`);
  expect(events).toMatchObject([
    { event: 'as', data: { host: expect.stringMatching(/^worker-a@/) } },
    { event: 'ax', data: { host: expect.stringMatching(/^worker-a@/), reason: 'completed' } },
  ]);
});

test('the health port tells that the worker lives, is ready, and how full it is; there is nothing else', async () => {
  const worker = workers[0] as Service;
  const ready = await fetch(`${worker.url}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ok', load: { hosted: 0, idle: 0, capacity: 2_000 } },
  ]);
  expect((await fetch(`${worker.url}/health/live`)).status).toBe(200);
  expect((await fetch(`${worker.url}/api/v1/sessions`)).status).toBe(404);
});
