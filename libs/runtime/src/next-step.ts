import type { ExitReason, Role } from '@mailroom/contracts';
import { LIMITS } from '@mailroom/contracts';
import type { Inbox } from '@mailroom/mailbox';
import type { Compaction } from './history/compaction';
import type { Memory } from './memory';

/** All that an agent can do next. */
export type NextStep =
  /** Bring the results of tool calls that the last answer asked for. */
  | { kind: 'use-tools' }
  /** Call the model; `last`: without tools, since a limit was reached. */
  | { kind: 'think'; last: boolean }
  /** Before that: the oldest part of a history that has outgrown the model's window is summarised (R22). */
  | Compaction
  /** Tell the model that its next answer is its last one for the task (R12). */
  | { kind: 'announce-limit' }
  /** A lead at its limit: open tasks are closed before its last step (R12). */
  | { kind: 'conclude' }
  /** A colleague came back with a policy error: it ends this agent's work too. */
  | { kind: 'deny'; messageId: string }
  /** No model call: the allowance without a task is spent (R12). */
  | { kind: 'retire' }
  /** Mail is there, more may come within the wake window (R14). */
  | { kind: 'collect'; ms: number }
  | { kind: 'idle' }
  | { kind: 'leave'; reason: ExitReason };

/** Who takes the step. */
export interface StepRules {
  role: Role;
  /** It was called as a tool: its last step is a report. */
  reports: boolean;
  maxSteps: number;
}

/** Decides from the journal's tail and the limits alone, so that any process decides the same after a reload. */
export function nextStep(inbox: Inbox, memory: Memory, { role, reports, maxSteps }: StepRules): NextStep {
  if (inbox.tail === 'tools') return { kind: 'use-tools' };
  if (inbox.tail === 'idle' || inbox.tail === 'handoff') {
    if (inbox.waitMs !== undefined) return { kind: 'collect', ms: inbox.waitMs };
    if (inbox.work) return { kind: 'collect', ms: 0 };
    return inbox.leave ? { kind: 'leave', reason: inbox.leave } : { kind: 'idle' };
  }
  const denial = memory.denial();
  if (denial && !inbox.final) return { kind: 'deny', messageId: denial.ids[0] ?? '' };
  const runId = inbox.runId ?? '';
  if (role === 'lead') {
    if (inbox.final) return { kind: 'think', last: true };
    return memory.stepsOfRun(runId) >= maxSteps ? { kind: 'conclude' } : { kind: 'think', last: false };
  }
  if (inbox.tasks.length === 0)
    return memory.freeSteps(runId) >= LIMITS.freeSteps ? { kind: 'retire' } : { kind: 'think', last: false };
  if (reports && (memory.wasTold('report') || memory.wasTold('limit'))) return { kind: 'think', last: true };
  if (!inbox.tasks.some((task) => memory.stepsOf(task.id) >= maxSteps)) return { kind: 'think', last: false };
  return memory.wasTold('limit') ? { kind: 'think', last: true } : { kind: 'announce-limit' };
}

/** The step, or the compaction without which its model call would not fit (R22). */
export function fitting(next: NextStep, overgrown: () => Compaction | undefined): NextStep {
  return next.kind === 'think' ? (overgrown() ?? next) : next;
}
