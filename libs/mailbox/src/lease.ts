import type {
  AgentMessage,
  CallRecord,
  EventCode,
  ExitReason,
  JournalEntry,
  OpenQuestion,
  OpenTask,
  RosterMember,
} from '@mailroom/contracts';

/** A name in a session. */
export interface Address {
  sessionId: string;
  agent: string;
}

/** One activation of an agent: what a claim hands out. Every write is fenced by it. */
export interface Lease extends Address {
  epoch: number;
  /** Random per claim. Epochs alone can repeat after Redis lost its last second. */
  token: string;
}

/** A lease that is renewed: with the cancel number that the agent's last drain saw. */
export interface HeldLease extends Lease {
  agentCancel: number;
}

/** A lease and what the agent's last drain saw; a write with older numbers is refused whole. */
export interface Fence extends HeldLease {
  sessionCancel: number;
  /** Commits of the agent so far. */
  n: number;
}

/** Who called an agent into being, and as what. */
export interface Instance {
  /** Id of its definition. */
  agent: string;
  /** Address of the agent that called it. */
  caller: string;
  /** Layers below the lead: 1 for those that the lead calls. */
  depth: number;
  /** The deepest layer that its callers' policies allow; 0: they set no limit. */
  maxDepth: number;
  mode: 'new' | 'reuse';
}

/** Who is in a session, as one of them sees it. */
export interface Membership {
  space: string;
  leadAgentId: string;
  roster: RosterMember[];
  /** Whether the session has a budget of its own. */
  budgeted: boolean;
  /** Of an agent that a handoff called into being. */
  instance?: Instance;
}

/** What the session is, told to whoever claims one of its agents. */
export interface Claim extends Membership {
  lease: Lease;
  /** The first look into the mailbox, if it was asked for. */
  inbox?: Inbox;
}

/**
 * What the journal's tail asks for: nothing · a model call · the results of open tool calls · nothing, until colleagues
 * that were called as tools have ended.
 */
export type Tail = 'idle' | 'model' | 'tools' | 'handoff';

/** One look into the mailbox: what was moved into the journal, and all that the next step depends on. */
export interface Inbox {
  fence: Fence;
  tail: Tail;
  /** The predicate `hasWork`: the agent must not idle or exit. */
  work: boolean;
  /** Mail is there, but the lead's wake window is open for that many milliseconds more (R14). */
  waitMs?: number;
  /** Set when a cancel or a shutdown took the work away: the agent leaves with this reason. */
  leave?: ExitReason;
  runId?: string;
  /** Why the lead's next step is its last one, without tools (R12, R15, R21). */
  final?: string;
  /** Steps that the agent committed so far. */
  step: number;
  /** How often the next step was begun, 1 for the first time; more after a crash or a hand-over. */
  tries: number;
  openCalls: string[];
  /** Open tasks: of a sub-agent its own, of a lead all. Oldest first. */
  tasks: OpenTask[];
  /** Open questions that the agent asked or was asked. */
  questions: OpenQuestion[];
  /** State and tail of the agents that have open tasks. */
  states: Record<string, { state: string; tail: Tail }>;
  /** The journal from the index that was asked for. */
  entries: JournalEntry[];
  /** The messages of the mail entries among them, by id. */
  messages: Map<string, AgentMessage>;
}

/** One `send_message` call of a step. */
export interface OutgoingMessage {
  callId: string;
  msgId: string;
  to: string;
  type: string;
  content: string;
  context?: string;
  inReplyTo?: string;
  traceparent?: string;
}

/** One call of a colleague as a tool. Each attempt is a task with this content. */
export interface OutgoingHandoff {
  callId: string;
  /** Id of the handoff; those of its attempts are derived from it. */
  id: string;
  tool: string;
  /** Address of the instance, and id of its definition. */
  to: string;
  agent: string;
  mode: 'new' | 'reuse';
  depth: number;
  maxDepth: number;
  /** Attempts at most. */
  max: number;
  /** Of one attempt; 0: none. */
  timeoutMs: number;
  /** After the last failed attempt the call stays open, for the caller's own tool of that name. */
  fallback: boolean;
  content: string;
  context?: string;
  traceparent?: string;
}

/** The answer to a colleague's question, as a call that waits for what the colleague makes of it. */
export interface OutgoingAnswer {
  callId: string;
  msgId: string;
  /** msgId of the question. */
  question: string;
  content: string;
  traceparent?: string;
}

/** One part of a step, written by one script. */
export interface StepPart {
  /** Number of the step; absent when no model call was made. */
  step?: number;
  entries: readonly JournalEntry[];
  events: readonly StepEvent[];
  sends: readonly OutgoingMessage[];
  /** The model call that the part ends, with or without an answer: a row of the session's account. */
  usage?: CallRecord;
  handoffs?: readonly OutgoingHandoff[];
  answers?: readonly OutgoingAnswer[];
  /** Tool calls whose results follow in parts of their own. */
  open?: readonly string[];
  /** The tool call whose result this part brings. */
  closes?: string;
  /** Journal entries that the host holds: asks for the next look into the mailbox in the same script. */
  known?: number;
  /**
   * Whether the agent idles after this part: `if_done` = if a clarify went out or the last open task was reported (R9);
   * `keep` = nothing changes in what it has to do.
   */
  park: 'no' | 'yes' | 'if_done' | 'keep';
  /** A reserved model call failed and is not made again. */
  spent?: true;
  /** Reason of the exit that this part may cause; `completed` when absent. */
  leave?: ExitReason;
  /** A sub-agent's text in a step without tool calls (R10). `force`: an own open question does not hold it back. */
  final?: {
    status: 'ok' | 'partial' | 'failed' | 'timeout';
    force: boolean;
    text: string;
    code?: string;
    traceparent?: string;
  };
  /** Cancels what is open; the lead's next step is its last one (R12). */
  conclude?: 'max_steps';
  /** A lead's text in a step without tool calls (R14). `force`: the run ends whatever is open. */
  settle?: { status: 'completed' | 'failed'; reason?: string; force: boolean; text: string };
}

export interface StepEvent {
  code: EventCode;
  data: Record<string, unknown>;
}

/** What a commit did beyond writing. */
export interface CommitReceipt {
  work: boolean;
  left?: ExitReason;
  settled: boolean;
  /** True: the `known` entries and those of the part are one piece of the journal. The look begins after them. */
  held?: boolean;
  /** The next look into the mailbox, if `known` asked for it and the agent has work other than open tool calls. */
  inbox?: Inbox;
}
