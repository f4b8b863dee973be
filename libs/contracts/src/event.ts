import { z } from 'zod';

/** Short code → long type of every event. */
export const EVENT_TYPES = {
  t: 'text.delta',
  th: 'reasoning.delta',
  ts: 'tool.started',
  tr: 'tool.finished',
  am: 'message.sent',
  ar: 'message.result',
  ap: 'message.progress',
  ac: 'message.clarify',
  as: 'agent.loaded',
  ax: 'agent.exited',
  rs: 'run.status',
  u: 'usage',
  w: 'agent.waiting',
  ae: 'message.refused',
  hs: 'handoff.started',
  he: 'handoff.ended',
  b: 'budget.warning',
  done: 'run.done',
  reset: 'stream.reset',
} as const;
export type EventCode = keyof typeof EVENT_TYPES;
export const EVENT_CODES = Object.keys(EVENT_TYPES) as [EventCode, ...EventCode[]];

/**
 * One entry of a session's event stream; the same in SSE `data` and in JSON. `id` is the stream id and orders all
 * events of a session; `at` is ISO 8601, Redis time. `reset` is the only event that is not in the stream: it tells a
 * reader that entries after its cursor were trimmed.
 */
export const sessionEvent = z.object({
  id: z.string(),
  event: z.enum(EVENT_CODES),
  type: z.string(),
  sessionId: z.string(),
  runId: z.string().optional(),
  agentId: z.string().optional(),
  at: z.string(),
  data: z.record(z.string(), z.unknown()),
});
export type SessionEvent = z.infer<typeof sessionEvent>;

/** Why an activation ended (R11). */
export const EXIT_REASONS = [
  'completed',
  'idle_timeout',
  'max_steps',
  'shutdown',
  'cancelled',
  'error',
  'evicted',
  'released',
  'lost',
] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];
