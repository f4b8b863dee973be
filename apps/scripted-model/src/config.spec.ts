import { readConfig } from './config';

test('the defaults are port 4010 on loopback with the shipped rules', () => {
  expect(readConfig({})).toEqual({ port: 4010, host: '127.0.0.1', latencyMs: 0, record: false });
});

test('every setting is read', () => {
  const env = { PORT: '0', HOST: '0.0.0.0', RULES: 'my.yaml', LATENCY_MS: '20', RECORD: '1' };
  expect(readConfig(env)).toEqual({ port: 0, host: '0.0.0.0', rulesFile: 'my.yaml', latencyMs: 20, record: true });
});

test.each([{ PORT: 'x' }, { LATENCY_MS: '-1' }, { RECORD: 'yes' }])('%j is an error that names the variable', (env) => {
  expect(() => readConfig(env)).toThrow(Object.keys(env)[0]);
});
