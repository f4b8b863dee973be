import { z } from 'zod';
import { spending } from './usage';

/** The life of a run: `queued → running ⇄ waiting → completed | failed | cancelled`. */
export const runStatus = z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled']);
export type RunStatus = z.infer<typeof runStatus>;

/** A run has settled when nothing can change it any more. */
export function isSettled(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** One user message until the lead has settled. Times are ISO 8601. */
export const run = z.object({
  id: z.string(),
  status: runStatus,
  /** Why a run ended other than by the lead's own answer: `max_steps`, `budget_calls`, `quiescent`, … */
  reason: z.string().optional(),
  output: z.string().optional(),
  usage: spending,
  startedAt: z.string(),
  endedAt: z.string().optional(),
});
export type Run = z.infer<typeof run>;
