import { z } from 'zod';
import { spending } from './usage';
import { usageRow } from './usage-row';

/** What model calls come to. `calls` were answered; failed and lost ones are counted apart and have no tokens. */
export const usageTotals = spending.extend({
  cached: z.number().int(),
  reasoning: z.number().int(),
  unpricedCalls: z.number().int(),
  failedCalls: z.number().int(),
  lostCalls: z.number().int(),
});
export type UsageTotals = z.infer<typeof usageTotals>;

/** What a session has spent: `own` is the lead's, `tree` everybody's. */
export const sessionUsage = z.object({
  sessionId: z.string(),
  own: usageTotals,
  tree: usageTotals,
  byAgent: z.array(usageTotals.extend({ agent: z.string() })),
  /** `tree` of an instance: its own calls and those of everything that it called as a tool. */
  byInstance: z.array(
    z.object({
      instance: z.string(),
      agent: z.string(),
      parent: z.string().optional(),
      own: usageTotals,
      tree: usageTotals,
    }),
  ),
  /** Lost calls have no model; they are under `unknown`. */
  byModel: z.array(usageTotals.extend({ model: z.string() })),
  byRun: z.array(usageTotals.extend({ runId: z.string() })),
  rows: z.array(usageRow).optional(),
  next: z.string().optional(),
});
export type SessionUsage = z.infer<typeof sessionUsage>;

export const USAGE_GROUPS = ['session', 'agent', 'model', 'day'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** What a space has spent between two instants, `from` included and `to` not. */
export const spaceUsage = z.object({
  from: z.string(),
  to: z.string(),
  groupBy: z.enum(USAGE_GROUPS),
  total: usageTotals,
  /** `key`: id of a session or agent, name of a model, or a day in UTC as `2026-11-30`. */
  groups: z.array(usageTotals.extend({ key: z.string() })),
});
export type SpaceUsage = z.infer<typeof spaceUsage>;
