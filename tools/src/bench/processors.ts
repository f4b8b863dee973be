import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import type { BenchStand } from './bench-stand';

/** Who is on which side of a wake-up; each side gets a processor of its own. */
export interface Sides {
  /** Redis, and this process, which watches. */
  senders: readonly number[];
  receivers: readonly number[];
}

/**
 * Runs a measurement of wake-ups with those who are woken on another processor than those who wake and watch. Left to
 * itself, a machine of two processors lets the process that Redis has just woken take the place of Redis, which then
 * tells the watcher a millisecond later; the more the woken one has to do, the later. Without `taskset`, or with one
 * processor, nothing is moved.
 */
export async function apart<T>({ senders, receivers }: Sides, measure: () => Promise<T>): Promise<T> {
  const everything = [...senders, ...receivers];
  const last = cpus().length - 1;
  const isMoved = last > 0 && move(senders, String(last)) && move(receivers, '0');
  try {
    return await measure();
  } finally {
    if (isMoved) move(everything, `0-${last}`);
  }
}

/** The processes of a stand, with those of the floor. */
export function sidesOf({ stack }: BenchStand, floor: number): Sides {
  const redis = stack.redis.pid;
  return {
    senders: [process.pid, ...(redis === undefined ? [] : [redis])],
    receivers: [...stack.workers.map(({ pid }) => pid), floor],
  };
}

/** False: it cannot be done here. */
function move(pids: readonly number[], processors: string): boolean {
  try {
    for (const pid of pids)
      for (const thread of readdirSync(`/proc/${pid}/task`)) execFileSync('taskset', ['-cp', processors, thread]);
    return true;
  } catch {
    return false;
  }
}
