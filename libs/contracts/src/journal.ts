import type { TokenUsage } from './usage';

/** One tool call as the model asked for it; `arguments` is JSON text. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** A model's answer: written by the commit of a step. */
export interface AssistantEntry {
  kind: 'assistant';
  step: number;
  runId: string;
  /** Open tasks of the agent when the step began (R12 counts steps with and without one apart). */
  openTasks: string[];
  content: string;
  /** Reasoning text that the server produced, kept apart from the answer. */
  reasoning?: string;
  toolCalls: ToolCall[];
  model: string;
  usage: TokenUsage;
  /** True when this step was asked without tools because a limit was reached. */
  last?: boolean;
}

/** The result of one tool call. */
export interface ToolEntry {
  kind: 'tool';
  callId: string;
  content: string;
  error?: boolean;
}

/** The outcome of one `send_message` call, written by the commit script, which alone knows it (R1, R4). */
export interface SentEntry {
  kind: 'sent';
  callId: string;
  code: SendCode;
  msgId: string;
  to: string;
  type: string;
  /** Names or ids that the outcome is about: the open tasks of an ambiguous reference. */
  detail?: string[];
}

/** A block of mail that a drain moved out of the mailbox; the messages are in the session's ledger. */
export interface MailEntry {
  kind: 'mail';
  ids: string[];
}

/** A sentence of the engine to the model; `code` says on which occasion. */
export interface EngineEntry {
  kind: 'engine';
  /**
   * nudge: an empty answer · limit: the step limit · report: the summary request of a handoff · allowance: no more
   * steps without a task · failure · cancelled
   */
  code: 'nudge' | 'limit' | 'report' | 'allowance' | 'failure' | 'cancelled';
  text: string;
}

/** How a handoff ended; `asked`: the sub-agent asked back, which is the call's interim result. */
export const HANDOFF_OUTCOMES = ['completed', 'failed', 'denied', 'fallback', 'asked'] as const;
export type HandoffOutcome = (typeof HANDOFF_OUTCOMES)[number];

/**
 * The result of a handoff call, written into the caller's journal by the script that takes the sub-agent's terminal
 * result (or its question). With `fallback` the call stays open for the caller's own tool of that name.
 */
export interface HandoffEntry {
  kind: 'handoff';
  callId: string;
  outcome: HandoffOutcome;
  tool: string;
  /** Address of the instance. */
  to: string;
  /** The result or the question, in the session's ledger. */
  ids: string[];
  attempts: number;
  /** Steps that the sub-agent made for it. */
  steps: number;
}

/** The result of an attempt that another attempt follows, or a question that the engine answered. No model reads it. */
export interface AttemptEntry {
  kind: 'attempt';
  callId: string;
  attempt: number;
  ids: string[];
}

/** The caller's own tool was begun in place of a colleague who failed; another process does not know how far it came. */
export interface PrimaryEntry {
  kind: 'primary';
  callId: string;
}

/** What takes the place of the journal's entries before `upTo` in the prompt; the entries themselves stay (R22). */
export interface SummaryEntry {
  kind: 'summary';
  /** Index of the first entry that is still shown whole. */
  upTo: number;
  text: string;
  /** Messages from before `upTo` that were open then; they are shown whole after the summary. */
  kept?: string[];
  model: string;
  usage: TokenUsage;
  runId: string;
}

/** A model refused a request for its length; the next ones to it stay clearly below (R22). No model reads it. */
export interface OverflowEntry {
  kind: 'overflow';
  /** The model that was asked. */
  model: string;
  /** Tokens of the request, by the platform's own count. */
  tokens: number;
  runId: string;
}

/** One entry of an agent's memory. The journal is append-only and is the agent's checkpoint. */
export type JournalEntry =
  | AssistantEntry
  | ToolEntry
  | SentEntry
  | MailEntry
  | EngineEntry
  | HandoffEntry
  | AttemptEntry
  | PrimaryEntry
  | SummaryEntry
  | OverflowEntry;

/** What became of a message that was handed to the mailbox. */
export const SEND_CODES = [
  'ok',
  'unknown_recipient',
  'wrong_direction',
  'self_addressed',
  'mailbox_full',
  'body_too_large',
  'invalid_arguments',
  'invalid_answer',
  'agent_unavailable',
  'unknown_reference',
  'ambiguous_task',
  'no_open_task',
  'task_closed',
  'task_revised',
  'question_withdrawn',
  'run_ending',
  'run_busy',
  'budget_spent',
  'session_closed',
  'id_taken',
] as const;
export type SendCode = (typeof SEND_CODES)[number];
