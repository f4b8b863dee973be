import type { Redis } from 'ioredis';
import type { ClientHistory } from './client-history';
import type { FaultStand } from './fault-stand';
import type { Load, LoadOptions } from './load';
import type { Random } from './random';

/** Where a phase happens. */
export interface Site {
  stand: FaultStand;
  random: Random;
  history: ClientHistory;
  /** A connection of the programme's own, past all links. */
  redis: Redis;
  /** Lets people work; the programme waits for them after the phase. */
  load(options: LoadOptions): Load;
  /** Counts something for the line that is printed. */
  count(what: string, by?: number): void;
}

/** One kind of trouble. */
export interface Phase {
  name: string;
  /** What is done to the platform, in a few words. */
  about: string;
  /** True: acknowledged writes are taken from Redis. */
  truncated?: boolean;
  /** True: some runs may end otherwise than completed. */
  lenient?: boolean;
  /** True: no process ends and Redis stays, so every activation that was put into the queue is begun. */
  isOrderly?: boolean;
  /** Resolves when the trouble is over; what is broken then is healed by the programme. */
  run(site: Site): Promise<void>;
}
