import { z } from 'zod';

const tokens = z.number().int().nonnegative();

/**
 * How a model call ended: `ok`, with an answer · `failed`, without one after all attempts · `lost`, reserved and maybe
 * made, but nobody committed its answer (its process died, or the step was aborted).
 */
export const callStatus = z.enum(['ok', 'failed', 'lost']);

/**
 * What the process that made a model call knows of it. What is absent is unknown: tokens when the server told none or no
 * answer came, `cost` when the model has no price. An unknown cost is never 0.
 */
export const callRecord = z.object({
  /** Id of the agent's definition. */
  agent: z.string(),
  /** The address that made the call: `lead`, `bob`, or one instance of a handoff, `bob#1`. */
  instance: z.string(),
  /** The address that called this instance as a tool; absent in message mode. */
  parent: z.string().optional(),
  /** The oldest open task that the agent had read when the step began. */
  taskId: z.string().optional(),
  step: z.number().int(),
  /** As the server named it; of a failed call as it was asked for. Absent when the call is lost. */
  model: z.string().optional(),
  status: callStatus,
  /** Absent when the call is lost. */
  attempts: z.number().int().optional(),
  /** The provider's id of the answer. */
  responseId: z.string().optional(),
  /** All tokens of the prompt, cached ones included. */
  input: tokens.optional(),
  output: tokens.optional(),
  cached: tokens.optional(),
  /** Part of `output`. */
  reasoning: tokens.optional(),
  /** US dollars, rounded to a millionth. */
  cost: z.number().nonnegative().optional(),
  /** Duration of the attempt that answered. */
  latencyMs: z.number().int().nonnegative().optional(),
});
export type CallRecord = z.infer<typeof callRecord>;

/** One model call of a session in its account, written by the script that commits the step (R21). */
export const usageRow = callRecord.extend({
  sessionId: z.string(),
  runId: z.string(),
  /** ISO 8601, Redis time of the commit. */
  at: z.string(),
});
export type UsageRow = z.infer<typeof usageRow>;
