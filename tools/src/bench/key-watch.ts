import type { Redis } from 'ioredis';
import { nowMs, within } from './clock';

/**
 * Tells when a key of Redis was changed, from outside: by keyspace notifications, which Redis sends in the moment in
 * which the changing command or script is done. Neither side of a comparison knows of it; both pay the same for it, a
 * fraction of a microsecond per changed key.
 */
export class KeyWatch {
  private waiting: { ending: string; command: string; resolve: (at: number) => void } | undefined;

  private constructor(
    private readonly redis: Redis,
    private readonly subscriber: Redis,
  ) {}

  /** Watches lists and deleted keys whose names match the pattern. */
  static async start(redis: Redis, pattern: string): Promise<KeyWatch> {
    await redis.config('SET', 'notify-keyspace-events', 'Klg');
    const subscriber = redis.duplicate();
    await subscriber.connect();
    const watch = new KeyWatch(redis, subscriber);
    subscriber.on('pmessage', (_: string, channel: string, command: string) => {
      const { ending, command: wanted, resolve } = watch.waiting ?? {};
      if (ending === undefined || wanted !== command || !channel.endsWith(ending)) return;
      watch.waiting = undefined;
      resolve?.(nowMs());
    });
    await subscriber.psubscribe(`__keyspace@0__:${pattern}`);
    return watch;
  }

  /** The instant at which this process hears of the next such command on a key that ends so. One can wait at a time. */
  next(ending: string, command: string): Promise<number> {
    const changed = new Promise<number>((resolve) => {
      this.waiting = { ending, command, resolve };
    });
    return within(`${command} of a key that ends with ${ending}`, changed);
  }

  async stop(): Promise<void> {
    await this.redis.config('SET', 'notify-keyspace-events', '');
    this.subscriber.disconnect();
  }
}
