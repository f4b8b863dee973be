import { randomBytes } from 'node:crypto';
import { environment } from './environment';

/**
 * The Redis of this test run and a key prefix for the calling file alone (queue names and keys of other files never
 * meet it): `const { url, prefix } = testRedis();` with `testRedis` from `@mailroom/tools`. Throws when the run was not
 * started with the root Jest configuration.
 */
export function testRedis(): { url: string; prefix: string } {
  const url = environment().testRedisUrl;
  if (!url) throw new Error('no Redis for this test: run it with the root jest.config.js, or set TEST_REDIS_URL');
  return { url, prefix: `t${randomBytes(4).toString('hex')}` };
}
