import { hash } from 'node:crypto';
import { z } from 'zod';
import { roleOf } from './message';

/** BullMQ queues. Gateways consume `lead-agents`, workers `sub-agents`, both `sweeper`. */
export const LEAD_QUEUE = 'lead-agents';
export const SUB_AGENT_QUEUE = 'sub-agents';
export const SWEEPER_QUEUE = 'sweeper';

/** The whole data of an activation job: ids only, since queue data is readable by whoever operates the queue. */
export const activationJob = z.strictObject({ sessionId: z.string(), agent: z.string(), epoch: z.number().int() });
export type ActivationJob = z.infer<typeof activationJob>;

export function queueFor(agent: string): typeof LEAD_QUEUE | typeof SUB_AGENT_QUEUE {
  return roleOf(agent) === 'lead' ? LEAD_QUEUE : SUB_AGENT_QUEUE;
}

/** Unique per activation: without the epoch a kept job id would swallow the next activation silently. Has no `:`. */
export function activationJobId(job: ActivationJob): string {
  const agent = hash('sha256', job.agent).slice(0, 16);
  return `${job.sessionId}.${agent}.${job.epoch}`;
}
