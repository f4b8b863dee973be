export { Activation } from './activation';
export { IdleAgents } from './idle-agents';
export { type InputFilter, InputFilters } from './input-filters';
export type { RunDeps, RunSettings } from './run-deps';
export { contextOf, failSpan, startSend } from './send-span';
export { sentPrompt } from './sent-prompt';
export { traceparentOf } from './traceparent';
