export {
  type ActivationJob,
  activationJob,
  activationJobId,
  LEAD_QUEUE,
  queueFor,
  SUB_AGENT_QUEUE,
  SWEEPER_QUEUE,
} from './activation-job';
export { agentName, foldName, LEAD, nearestName, RESERVED_ADDRESSES, wayOut } from './address';
export { type AgentDefinition, agentDefinition, type RosterMember, rosterMember, toolOf } from './agent-definition';
export { BUDGET_KINDS, type Budget, type BudgetKind, type BudgetWarning, budget } from './budget';
export { AppError, ERROR_TABLE, type ErrorCode, type Retry, toAppError } from './errors';
export {
  EVENT_CODES,
  EVENT_TYPES,
  type EventCode,
  EXIT_REASONS,
  type ExitReason,
  type SessionEvent,
  sessionEvent,
} from './event';
export {
  type HandoffFailureAction,
  type HandoffOverride,
  type HandoffPolicy,
  handoffOverride,
  handoffPolicy,
  type InputFilterStep,
} from './handoff-policy';
export { handoffToolName, TOOL_NAME } from './handoff-tool';
export {
  type AssistantEntry,
  type AttemptEntry,
  type EngineEntry,
  HANDOFF_OUTCOMES,
  type HandoffEntry,
  type HandoffOutcome,
  type JournalEntry,
  type MailEntry,
  type OverflowEntry,
  type PrimaryEntry,
  SEND_CODES,
  type SendCode,
  type SentEntry,
  type SummaryEntry,
  type ToolCall,
  type ToolEntry,
} from './journal';
export { LIMITS } from './limits';
export type { Logger } from './logger';
export {
  type AgentMessage,
  agentMessage,
  MESSAGE_TYPES,
  type MessageType,
  MSG_ID,
  messageType,
  type ResultStatus,
  type Role,
  resultStatus,
  roleOf,
  sendableTypes,
} from './message';
export { isSettled, type Run, type RunStatus, run, runStatus } from './run';
export {
  type AgentState,
  agentState,
  cancelBody,
  type OpenQuestion,
  type OpenSessionBody,
  type OpenTask,
  openQuestion,
  openSessionBody,
  openTask,
  type PostMessageBody,
  postMessageBody,
  type SessionDetail,
  type SessionSummary,
  sessionDetail,
  sessionSummary,
  userInput,
} from './session';
export type { ToolSpec } from './tool-spec';
export {
  type TraceHead,
  type TraceKind,
  type TraceSpan,
  type TraceStatus,
  trace,
  traceHead,
  traceSpan,
} from './trace';
export { type Spending, spending, type TokenUsage, tokenUsage } from './usage';
export {
  type SessionUsage,
  type SpaceUsage,
  sessionUsage,
  spaceUsage,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageTotals,
  usageTotals,
} from './usage-report';
export { type CallRecord, callRecord, callStatus, type UsageRow, usageRow } from './usage-row';
