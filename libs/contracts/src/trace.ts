import { z } from 'zod';

/** What a span of a session's trace stands for. */
const traceKind = z.enum(['run', 'activation', 'step', 'model', 'tool', 'handoff', 'message']);
export type TraceKind = z.infer<typeof traceKind>;

/** `running`: no end is recorded so far. */
const traceStatus = z.enum(['running', 'ok', 'failed', 'cancelled']);
export type TraceStatus = z.infer<typeof traceStatus>;

/**
 * Something that happened in a session. Times are ISO 8601, Redis time; they are absent where the event that told them
 * was trimmed. `attributes` and `content` are described in docs/trace.md; `content` only comes when it is asked for.
 */
export const traceSpan = z.object({
  id: z.string(),
  parentId: z.string().optional(),
  kind: traceKind,
  name: z.string(),
  /** The address in the session. */
  agent: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  status: traceStatus,
  attributes: z.record(z.string(), z.unknown()),
  content: z.record(z.string(), z.unknown()).optional(),
});
export type TraceSpan = z.infer<typeof traceSpan>;

/** What goes before the spans: the first line of the JSONL form. */
export const traceHead = z.object({
  kind: z.literal('trace'),
  sessionId: z.string(),
  status: z.enum(['open', 'closed']),
  /** True: the oldest events were trimmed, so the oldest spans have no times, and activations before them are missing. */
  truncated: z.boolean(),
});
export type TraceHead = z.infer<typeof traceHead>;

/** The JSON form: the spans by start. */
export const trace = traceHead.extend({ spans: z.array(traceSpan) });
