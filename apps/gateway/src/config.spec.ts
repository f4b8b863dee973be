import { AppError } from '@mailroom/contracts';
import { readConfig } from './config';

const reasonOf = (env: NodeJS.ProcessEnv): string => {
  try {
    readConfig(env);
    return 'accepted';
  } catch (error) {
    if (error instanceof AppError && error.code === 'misconfigured') return error.message;
    throw error;
  }
};

test('an empty environment gives the documented defaults', () => {
  expect(readConfig({})).toMatchObject({
    address: '127.0.0.1',
    port: 3000,
    agentsDir: './agents',
    sessions: { windowMs: 250, waitBudgetMs: 600_000, clarifyMs: 300_000 },
    node: {
      redisUrl: 'redis://127.0.0.1:6379',
      redisPrefix: 'mailroom',
      openAi: { baseUrl: 'http://127.0.0.1:4010/v1', apiKey: 'scripted' },
      model: 'scripted',
      capacity: 2_000,
    },
  });
});

test('traces go where the standard variables say, and nowhere without them', () => {
  const tracesUrl = (env: NodeJS.ProcessEnv) => readConfig(env).node.telemetry?.tracesUrl;
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/';
  expect(tracesUrl({})).toBeUndefined();
  expect(tracesUrl({ OTEL_EXPORTER_OTLP_ENDPOINT })).toBe('http://collector:4318/v1/traces');
  const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = 'http://collector/here';
  expect(tracesUrl({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT })).toBe('http://collector/here');
  expect(tracesUrl({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  expect(reasonOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toBe(
    'OTEL_EXPORTER_OTLP_ENDPOINT has to be an http or https address',
  );
});

test('an empty variable counts as absent', () => {
  expect(readConfig({ PORT: '', REDIS_URL: '' }).port).toBe(3000);
});

test.each([
  [{ PORT: 'abc' }, 'PORT has to be a whole number from 0 to 65535'],
  [{ PORT: '65536' }, 'PORT has to be a whole number from 0 to 65535'],
  [{ SWEEP_MS: '-1' }, 'SWEEP_MS has to be a whole number from 50 to 86400000'],
  [{ REDIS_URL: 'http://secret@host' }, 'REDIS_URL has to begin with redis:// or rediss://'],
  [{ REDIS_PREFIX: 'a{b}' }, 'REDIS_PREFIX has 1 to 64 of the letters a-z, A-Z, 0-9, "_", "." and "-"'],
])('a bad value is one line that names the variable, not the value: %j', (env, reason) => {
  expect(reasonOf(env)).toBe(reason);
});

test.each(['0.0.0.0', '::', '192.168.1.5', 'example.org', '127.0.0.1.example.org'])(
  'without keys the gateway does not listen on %s',
  (HOST) => {
    expect(reasonOf({ HOST })).toMatch(/HOST .* can be reached from other machines.* AUTH_MODE=none/);
    expect(reasonOf({ HOST, AUTH_MODE: 'keys' })).toMatch(/can be reached/);
    expect(readConfig({ HOST, AUTH_MODE: 'none' }).address).toBe(HOST);
  },
);

test.each(['127.0.0.1', '127.3.2.1', '::1', 'localhost'])('%s is loopback', (HOST) => {
  expect(readConfig({ HOST }).address).toBe(HOST);
});
