import {
  type ActivationJob,
  activationJobId,
  type LEAD_QUEUE,
  type Logger,
  queueFor,
  type SUB_AGENT_QUEUE,
} from '@mailroom/contracts';
import type { JobState } from '@mailroom/mailbox';
import type { Queue } from 'bullmq';

/** Brings activations to the processes that host agents: leads to gateways, sub-agents to workers. */
export class ActivationQueue {
  constructor(
    private readonly queues: Record<typeof LEAD_QUEUE | typeof SUB_AGENT_QUEUE, Pick<Queue, 'add' | 'getJobState'>>,
    private readonly logger: Logger,
  ) {}

  /** Returns at once and never throws: an activation that does not reach the queue is found by the sweeper. */
  enqueue(job: ActivationJob): void {
    this.queues[queueFor(job.agent)].add('activate', job, { jobId: activationJobId(job) }).catch((error: unknown) => {
      this.logger.warn(
        { sessionId: job.sessionId, agent: job.agent, epoch: job.epoch, err: error },
        'activation not enqueued',
      );
    });
  }

  /** What BullMQ knows of the job. Looks at its state, since the key of a job can outlive its place in the queue. */
  async state(job: ActivationJob): Promise<JobState> {
    const state = await this.queues[queueFor(job.agent)].getJobState(activationJobId(job));
    if (state === 'active') return 'active';
    return state === 'waiting' || state === 'delayed' || state === 'prioritized' ? 'waiting' : 'missing';
  }
}
