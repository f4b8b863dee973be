import { AppError } from '@mailroom/contracts';
import { Redis } from 'ioredis';
import { MailboxKeys } from './keys';

/** The layout of keys and records that this code reads and writes. */
export const SCHEMA_VERSION = '2';

export interface ConnectionOptions {
  /** `redis://…`; may hold a password, which no error text repeats. */
  url: string;
  /** Shown in CLIENT LIST. */
  name: string;
  /**
   * `patient`: commands wait for Redis to come back, for loops that must not lose a step.
   * `prompt`: commands fail at once while Redis is away, for requests of people.
   */
  mood: 'patient' | 'prompt';
}

/**
 * Writes all commands of one turn of the event loop at once: a system call per command is what many agents in one
 * process spend most on. Where one command is all there is to do, it leaves as soon as without.
 */
class BatchingRedis extends Redis {
  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    const socket = this.stream;
    if (socket && socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    return super.sendCommand(command, stream);
  }
}

/** A connection that reconnects for ever. The caller closes it. */
export function connect({ url, name, mood }: ConnectionOptions): Redis {
  const redis = new BatchingRedis(url, {
    connectionName: name,
    maxRetriesPerRequest: mood === 'patient' ? null : 1,
    enableOfflineQueue: mood === 'patient',
    lazyConnect: true,
    enableReadyCheck: true,
    // Notifications subscribe again by themselves, to know when it is done.
    autoResubscribe: false,
  });
  // Without a listener ioredis prints every failed attempt; readiness is reported by the health checks.
  redis.on('error', () => undefined);
  return redis;
}

/**
 * Checks once at start that Redis answers, is new enough, and holds no data of another schema.
 * Throws `store_unavailable` with the way out, or `store_version`.
 */
export async function checkStore(url: string, prefix: string): Promise<void> {
  const probe = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 5_000,
    maxRetriesPerRequest: 0,
  });
  probe.on('error', () => undefined);
  try {
    await probe.connect();
  } catch (cause) {
    // Disconnecting what has ended keeps the process alive for two seconds.
    if (probe.status !== 'end') probe.disconnect();
    throw new AppError(
      'store_unavailable',
      `no Redis at ${withoutSecrets(url)}: start one (for example "npm start" starts its own) or set REDIS_URL`,
      { cause },
    );
  }
  try {
    const version = /redis_version:(\d+)\./.exec(await probe.info('server'))?.[1];
    if (Number(version) < 7)
      throw new AppError('store_version', `Redis ${version} is too old: Mailroom needs 7.0 or newer`);
    const key = new MailboxKeys(prefix).schema();
    await probe.setnx(key, SCHEMA_VERSION);
    const found = await probe.get(key);
    if (found !== SCHEMA_VERSION)
      throw new AppError(
        'store_version',
        `the data under "${prefix}" has schema ${found}, this process understands ${SCHEMA_VERSION}: run the matching release or set another REDIS_PREFIX`,
      );
  } finally {
    probe.disconnect();
  }
}

/** Host and port of a Redis URL. */
export function withoutSecrets(url: string): string {
  try {
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}`;
  } catch {
    return 'the given REDIS_URL (not a URL)';
  }
}
