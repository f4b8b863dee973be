import { createHash } from 'node:crypto';
import { AppError } from '@mailroom/contracts';
import type { Redis } from 'ioredis';
import { SCRIPTS } from './scripts.generated';

export type ScriptName = keyof typeof SCRIPTS;

const DIGESTS = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, source]) => [name, createHash('sha1').update(source).digest('hex')]),
) as Record<ScriptName, string>;

/** Runs the commands of `lua/` by digest; sends the source when Redis has lost it (restart, failover, SCRIPT FLUSH). */
export class MailboxScripts {
  constructor(private readonly redis: Redis) {}

  /** Throws `store_unavailable` when Redis cannot be reached or refuses the command. */
  async run(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.redis.evalsha(DIGESTS[name], keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw storeError(name, error);
    }
    try {
      return await this.redis.eval(SCRIPTS[name], keys.length, ...keys, ...args);
    } catch (error) {
      throw storeError(name, error);
    }
  }
}

function storeError(name: ScriptName, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message.slice(0, 200) : 'unknown reason';
  return new AppError('store_unavailable', `Redis did not run ${name}: ${reason}`, { cause });
}
