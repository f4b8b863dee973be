export { ActivationQueue } from './activation-queue';
export { AgentHost, type AgentHostOptions, type HostLoad } from './agent-host';
export { FrameworkLogger } from './framework-logger';
export { type Consumer, HostNode, type RequestDoor } from './host-node';
export {
  AGENTS_PER_WORKER,
  JOB_OPTIONS,
  QUEUES,
  queueOptions,
  queuePrefix,
  workerOptions,
  workerSizes,
} from './queue-options';
export { traceRequest } from './request-spans';
export { runService, type Service, urlOf } from './run-service';
export { type NodeSettings, nodeSettings, nodeVariables, readVariables, wholeNumber } from './settings';
export { Sweeper, type SweeperOptions } from './sweeper';
export { type OpenTrace, SessionTrace } from './trace/session-trace';
