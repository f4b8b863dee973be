import { z } from 'zod';

/** Tokens of one or more model calls. */
export const tokenUsage = z.object({
  input: z.number().int().nonnegative(),
  output: z.number().int().nonnegative(),
  cached: z.number().int().nonnegative().optional(),
  reasoning: z.number().int().nonnegative().optional(),
});
export type TokenUsage = z.infer<typeof tokenUsage>;

/** What an agent, a run or a session has spent so far on calls that were answered. */
export const spending = z.object({
  calls: z.number().int(),
  input: z.number().int(),
  output: z.number().int(),
  cached: z.number().int().optional(),
  reasoning: z.number().int().optional(),
  /** US dollars of the calls that have a price; absent when none of them has. */
  cost: z.number().optional(),
  /** Calls whose cost is unknown and therefore not in `cost`. */
  unpricedCalls: z.number().int().optional(),
});
export type Spending = z.infer<typeof spending>;
