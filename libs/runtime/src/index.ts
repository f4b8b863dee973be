export { Activation } from './activation';
export { type InputFilter, InputFilters } from './input-filters';
export type { RunDeps, RunSettings } from './run-deps';
