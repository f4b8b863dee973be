import { announceTestRedis, environment } from './environment';
import { type RunningRedis, startRedis } from './redis-launcher';

declare global {
  var mailroomTestRedis: RunningRedis | undefined;
}

/** Starts one Redis for the whole run, unless TEST_REDIS_URL names one; specs get it from `testRedis()`. */
module.exports = async function startTestRedis(): Promise<void> {
  if (environment().testRedisUrl) return;
  globalThis.mailroomTestRedis = await startRedis({ url: undefined });
  announceTestRedis(globalThis.mailroomTestRedis.url);
};
