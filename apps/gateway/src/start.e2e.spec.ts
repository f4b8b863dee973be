import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startProcess, testRedis } from '@mailroom/tools';

let folder: string;
const redis = testRedis();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agents-'));
  await writeFile(join(folder, 'solo.md'), '---\ndescription: works alone\n---\nYou answer.');
});
afterAll(() => rm(folder, { recursive: true }));

const start = (env: Record<string, string>) =>
  startProcess({
    name: 'gateway',
    entry: resolve(__dirname, '../dist/main.js'),
    env: { PORT: '0', REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix, AGENTS_DIR: folder, LOG_LEVEL: 'info', ...env },
    readyLine: 'gateway listens',
  });
const failureOf = (env: Record<string, string>): Promise<string> =>
  start(env).then(
    async (gateway) => {
      await gateway.stop();
      return 'it started';
    },
    (error: Error) => error.message,
  );

test('SIGTERM ends a gateway with exit code 0', async () => {
  const gateway = await start({});
  expect(await gateway.stop()).toEqual({ code: 0, signal: null });
});

test.each([
  [
    'no Redis',
    { REDIS_URL: 'redis://user:secret@127.0.0.1:1' },
    /^gateway: no Redis at redis:\/\/127\.0\.0\.1:1: start one .* or set REDIS_URL$/,
  ],
  ['a bad value', { SWEEP_MS: 'soon' }, /^gateway: SWEEP_MS has to be a whole number/],
  ['an address that others reach', { HOST: '0.0.0.0' }, /^gateway: HOST 0\.0\.0\.0 can be reached from other machines/],
  [
    'no agents folder',
    { AGENTS_DIR: '/nowhere/agents' },
    /^gateway: the agents folder "\/nowhere\/agents" cannot be read/,
  ],
  ['no model address', { OPENAI_BASE_URL: 'ftp://x' }, /^gateway: OPENAI_BASE_URL has to be an http/],
])('with %s a gateway ends with one clear line and exit code 1', async (_name, env, line) => {
  const [head, ...lines] = (await failureOf(env)).split('\n');
  expect(head).toContain('exit code 1');
  expect(lines).toEqual([expect.stringMatching(line)]);
});
