import { LEAD_QUEUE, LIMITS, SUB_AGENT_QUEUE, SWEEPER_QUEUE } from '@mailroom/contracts';
import type { JobsOptions, QueueOptions, WorkerOptions } from 'bullmq';

/** All queues of a deployment. */
export const QUEUES = [LEAD_QUEUE, SUB_AGENT_QUEUE, SWEEPER_QUEUE] as const;

/**
 * Agents that one BullMQ Worker holds. A Worker takes up jobs one after the other, each with round trips of its own: over
 * a slow link several take up several at a time. And to renew more locks at once holds Redis for milliseconds.
 */
export const AGENTS_PER_WORKER = 500;

/** Nothing of a finished job is kept: a kept id would swallow nothing (ids hold the epoch), but keep growing. */
export const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true, attempts: 1 };

/** BullMQ keys of a deployment; in one hash slot each, as BullMQ needs it on Redis Cluster. */
export function queuePrefix(prefix: string): string {
  return `{${prefix}-queues}`;
}

/** Options of a queue that adds jobs while Redis may be away: a failed add is repaired by the sweeper. */
export function queueOptions(prefix: string): Omit<QueueOptions, 'connection'> {
  return { prefix: queuePrefix(prefix), defaultJobOptions: JOB_OPTIONS };
}

/**
 * Options of a worker that hosts agents. The lock is a hint about liveness, the fence of the mailbox is the guarantee;
 * so a stalled job is never run again (`maxStalledCount: 0`): the sweeper makes a new activation with a new id. Locks
 * last four leases, so that what is left of a dead process's jobs goes after its agents have been loaded elsewhere.
 */
export function workerOptions(
  prefix: string,
  concurrency: number,
  leaseMs: number = LIMITS.leaseMs,
): Omit<WorkerOptions, 'connection'> {
  return {
    prefix: queuePrefix(prefix),
    concurrency,
    lockDuration: 4 * leaseMs,
    stalledInterval: leaseMs,
    maxStalledCount: 0,
    drainDelay: 5,
  };
}

/** The sizes of the BullMQ Workers that together host `capacity` agents, plus one each to notice that jobs wait. */
export function workerSizes(capacity: number): number[] {
  const count = Math.max(1, Math.ceil(capacity / AGENTS_PER_WORKER));
  return Array.from({ length: count }, (_, i) => Math.floor((capacity + i) / count) + 1);
}
