import type { ToolRegistry } from '@mailroom/capabilities';
import type { CallRecord, ToolCall } from '@mailroom/contracts';
import type { ModelAnswer } from '@mailroom/llm';
import type { Inbox, StepEvent } from '@mailroom/mailbox';
import type { InputFilters } from './handoff/input-filters';
import type { Memory } from './memory';
import type { Seat } from './team';

/** A model's answer and all that decides what becomes of it. */
export interface Answered {
  seat: Seat;
  sessionId: string;
  inbox: Inbox;
  memory: Memory;
  last: boolean;
  step: number;
  answer: ModelAnswer;
  /** The call in the session's account. */
  call: CallRecord;
  /** Its tool calls; none at a last step, where a model that was offered no tools may call some all the same. */
  calls: readonly ToolCall[];
  /** Text events that were not written yet. */
  told: readonly StepEvent[];
  tools: ToolRegistry;
  filters: InputFilters;
  /** Tokens that the model takes, if known. */
  window: number | undefined;
}
