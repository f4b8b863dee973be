import { z } from 'zod';

const limits = {
  /** Model calls. */
  calls: z.number().int().min(1).max(100_000).optional(),
  /** Input and output together. */
  tokens: z.number().int().min(1).max(1_000_000_000_000).optional(),
  /** US dollars, down to a millionth. */
  cost: z.number().min(0.000_001).max(1_000_000).optional(),
};

/** What a session, and each of its runs, may spend (R21). */
export const budget = z.strictObject({ ...limits, run: z.strictObject(limits).optional() });
export type Budget = z.infer<typeof budget>;

export const BUDGET_KINDS = ['calls', 'tokens', 'cost'] as const;
export type BudgetKind = (typeof BUDGET_KINDS)[number];

/**
 * Data of the event `b`: a budget is at 80 % or more. Once per scope and kind, of a run once per run. `unpriced`: calls
 * without a known price are made under a budget of cost, so it cannot hold them.
 */
export interface BudgetWarning {
  scope: 'session' | 'run';
  kind: BudgetKind;
  used: number;
  limit: number;
  unpriced?: boolean;
}
