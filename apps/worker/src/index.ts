export { readConfig, type WorkerConfig } from './config';
export { createWorker } from './create-worker';
