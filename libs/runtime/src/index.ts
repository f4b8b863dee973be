export { Activation } from './activation';
export type { RunDeps, RunSettings } from './run-deps';
