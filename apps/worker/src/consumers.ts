import type { Consumer, HostNode } from '@mailroom/hosting';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { OnApplicationBootstrap, Type } from '@nestjs/common';
import type { Job } from 'bullmq';

/** The BullMQ Workers of a node as Nest processors: one class each, since a class is one Worker. */
export function consumerClasses(node: HostNode): Type<WorkerHost>[] {
  return node.consumers.map((consumer) => consumerClass(node, consumer));
}

function consumerClass(node: HostNode, { queue, options, process }: Consumer): Type<WorkerHost> {
  @Processor(queue, options)
  class JobConsumer extends WorkerHost implements OnApplicationBootstrap {
    onApplicationBootstrap(): void {
      node.adopt(this.worker);
    }

    // Not `async`: what waits here would be kept for each agent.
    process(job: Job): Promise<void> {
      return process(job);
    }

    @OnWorkerEvent('error')
    onError(error: Error): void {
      node.reportTrouble(queue, error);
    }

    @OnWorkerEvent('failed')
    onFailed(job: Job | undefined, error: Error): void {
      node.logger.warn({ queue, jobId: job?.id, err: error }, 'a job failed');
    }
  }
  return JobConsumer;
}
