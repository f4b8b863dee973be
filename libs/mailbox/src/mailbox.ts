import type { ActivationJob, ExitReason, RosterMember } from '@mailroom/contracts';
import type { Claim, CommitReceipt, Fence, HeldLease, Inbox, Lease, StepEvent, StepPart } from './lease';

/** A message to hand in. `msgId` makes a retry safe: the same id again changes nothing. */
export interface Letter {
  from: string;
  to: string;
  type: string;
  content: string;
  context?: string;
  inReplyTo?: string;
  msgId?: string;
  traceparent?: string;
  /** What a user's message does while a run is on (R18). */
  onBusy?: 'steer' | 'reject';
}

export interface SendReceipt {
  msgId: string;
  /** Position in the recipient's mailbox, counted from 1 over the life of the session. */
  seq: number;
  /** The run that the message belongs to; empty outside a run. */
  runId: string;
}

/** Times in ms; all have the defaults of `LIMITS`. They are stored with the session, so all processes agree. */
export interface SessionSettings {
  mailboxSize: number;
  /** Budgets of the session, and of each run (R21); costs are dollars. */
  callLimit: number;
  tokenLimit?: number;
  costLimit?: number;
  runCallLimit?: number;
  runTokenLimit?: number;
  runCostLimit?: number;
  maxEvents: number;
  windowMs: number;
  waitBudgetMs: number;
  clarifyMs: number;
  /** How long an activation job may be on its way before the sweeper looks for it. */
  jobMs: number;
  strikes: number;
  /** Questions of a sub-agent during one handoff. */
  rounds: number;
  /** Whether the session was opened with a budget of its own: deeper layers need one (R20). */
  budgeted: 0 | 1;
  wakeOn: 'each' | 'all';
}

export interface NewSession {
  id: string;
  space: string;
  leadAgentId: string;
  roster: readonly RosterMember[];
  metadata: Record<string, string>;
  /** Digest of the request: tells a repeated request from another one under the same id. */
  fingerprint: string;
  settings: Partial<SessionSettings>;
}

/** How an activation is taken. */
export interface ClaimTerms {
  /** Random; the same one again gets the same answer. */
  token: string;
  /** Names process and machine. */
  host: string;
  leaseMs: number;
  /** Whether to look into the mailbox in the same script. */
  look?: boolean;
}

/** A renewed lease: nothing new · it has mail or work · its work was cancelled since · it is lost. */
export type LeaseState = 'quiet' | 'work' | 'cancelled' | 'lost';

/**
 * The message bus of a session (seed 000 §3.3): `send` puts a message into a mailbox and wakes its owner, `readInbox`
 * takes what is there. Around these two the port adds what makes them durable: claims, commits, exits.
 *
 * Promises: an accepted message is in exactly one place (R3); order is kept per sender and recipient (R2); at most one
 * activation of an agent can write, whatever locks say. Every call may be repeated. Keys, scripts and connections are
 * not part of the port. All methods throw `store_unavailable` when Redis is away, and the fenced ones `lease_lost`,
 * `session_closed`, `cancelled` or `out_of_step`.
 */
export interface Mailbox {
  /** The state of the session: closed when it was opened and ended before. Throws `idempotency_conflict` when the id was opened by another request. */
  openSession(session: NewSession): Promise<'open' | 'closed'>;
  /** Throws the refusal (R1, R4, R18) as an `AppError`; nothing was stored then. */
  send(sessionId: string, letter: Letter): Promise<SendReceipt>;
  /** Undefined when the job is stale: somebody else has or had the activation. */
  claim(job: ActivationJob, terms: ClaimTerms): Promise<Claim | undefined>;
  /**
   * Moves mail into the journal and returns the journal from entry `known` on (R8). Throws `out_of_step` when there are
   * fewer than `known`, or fewer commits than `commits`: Redis has lost writes that the caller has seen, so it has to
   * read all again.
   */
  readInbox(lease: Lease, known: number, commits?: number): Promise<Inbox>;
  commit(fence: Fence, part: StepPart): Promise<CommitReceipt>;
  /** `number` counts the calls of one activation from 1. */
  emit(fence: Fence, number: number, events: readonly StepEvent[]): Promise<void>;
  /** False: the agent has work and stays. */
  exit(lease: Lease, reason: ExitReason): Promise<boolean>;
  /** `isCallUnused`: the model call that the last look reserved was not begun, so it is not written off as lost. */
  release(lease: Lease, reason: 'released' | 'evicted' | 'error', isCallUnused?: boolean): Promise<void>;
  renewLeases(leases: readonly HeldLease[], leaseMs: number): Promise<LeaseState[]>;
  /** The id of the cancelled run; undefined when none was on. */
  cancelRun(sessionId: string, reason: string): Promise<string | undefined>;
  cancelAgent(sessionId: string, agent: string, reason: string): Promise<void>;
  /** False: it was closed before. */
  closeSession(sessionId: string): Promise<boolean>;
}
