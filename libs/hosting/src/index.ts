export { ActivationQueue } from './activation-queue';
export { AgentHost, type AgentHostOptions, type HostLoad } from './agent-host';
export {
  AGENTS_PER_WORKER,
  JOB_OPTIONS,
  QUEUES,
  queueOptions,
  queuePrefix,
  workerOptions,
  workerSizes,
} from './queue-options';
export { Sweeper, type SweeperOptions } from './sweeper';
