import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { SCRIPTS } from '../scripts.generated';
import { dumpKeys, type KeyDump } from './key-dump';

/** One execution of a command: what it replied, and what Redis held after it. */
export interface Execution {
  reply: unknown;
  dump: KeyDump;
}

/**
 * Makes a connection behave as if every reply were lost once: each script is sent a second time with the same
 * arguments, as clients do on reconnect. Returns the pairs of executions; the caller gets the second reply.
 */
export function resendScripts(redis: Redis, prefix: string): [Execution, Execution][] {
  const pairs: [Execution, Execution][] = [];
  const sources = new Map(Object.values(SCRIPTS).map((source) => [sha1(source), source]));
  // By source: other tests flush the scripts of the same Redis.
  const run = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>;
  const execute = async (args: unknown[]): Promise<Execution> => {
    const reply = await run(sources.get(String(args[0])), ...args.slice(1));
    return { reply, dump: await dumpKeys(redis, prefix) };
  };
  redis.evalsha = (async (...args: unknown[]) => {
    const first = await execute(args);
    const second = await execute(args);
    pairs.push([first, second]);
    return second.reply;
  }) as Redis['evalsha'];
  return pairs;
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
