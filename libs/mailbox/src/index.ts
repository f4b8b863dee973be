export { Accounts } from './accounts';
export { AgentDirectory, type ListedAgent } from './agent-directory';
export { type ConnectionOptions, checkStore, connect, SCHEMA_VERSION, withoutSecrets } from './connection';
export type { Definitions } from './definitions';
export type { DueEntry, DueKind } from './due-entry';
export { DueIndex, type JobState, type SweepTimes } from './due-index';
export { EventFeed } from './event-feed';
export type {
  Address,
  Claim,
  CommitReceipt,
  Fence,
  HeldLease,
  Inbox,
  Instance,
  Lease,
  Membership,
  OutgoingAnswer,
  OutgoingHandoff,
  OutgoingMessage,
  StepEvent,
  StepPart,
  Tail,
} from './lease';
export type { ClaimTerms, LeaseState, Letter, Mailbox, NewSession, SendReceipt, SessionSettings } from './mailbox';
export type { RedisMailboxOptions } from './mailbox-options';
export { derivedMessageId, newMessageId, runIdOf } from './message-id';
export { Notifications, type Sleeper, type Wake } from './notifications';
export { RedisMailbox } from './redis-mailbox';
export { SessionReader } from './session-reader';
export { sessionUsageOf, spaceUsageOf } from './usage-report';
