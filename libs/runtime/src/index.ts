export { Activation } from './activation';
export { type InputFilter, InputFilters } from './handoff/input-filters';
export { IdleAgents } from './idle-agents';
export { sentPrompt } from './prompt/sent-prompt';
export type { RunDeps, RunSettings } from './run-deps';
export { contextOf, failSpan, startSend } from './spans/send-span';
export { traceparentOf } from './spans/traceparent';
