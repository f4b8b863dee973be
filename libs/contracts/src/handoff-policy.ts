import { z } from 'zod';

/** What happens to a call that the policy denied, or whose sub-agent failed for good. */
const handoffFailureAction = z.enum(['fail', 'fallback_to_primary']);
export type HandoffFailureAction = z.infer<typeof handoffFailureAction>;

/** A registered filter by name, or by name with its options: `redact-secrets`, `{truncate: {maxChars: 4000}}`. */
const inputFilterStep = z.union([
  z
    .string()
    .trim()
    .min(1)
    .transform((name) => ({ name, options: {} as Record<string, unknown> })),
  z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .refine((step) => Object.keys(step).length === 1, 'a filter with options is one name and its options')
    .transform((step) => {
      const [[name, options] = ['', {}]] = Object.entries(step);
      return { name, options };
    }),
  z.strictObject({ name: z.string(), options: z.record(z.string(), z.unknown()) }),
]);
export type InputFilterStep = z.output<typeof inputFilterStep>;

const toolNames = z.array(z.string().trim().min(1).max(64)).max(64);
const inputFilter = z.union([inputFilterStep.transform((step) => [step]), z.array(inputFilterStep).max(8)]);

/** The fields as people write them; a sub-agent may state some, which win over its team's. */
const fields = {
  /** False: no allow, deny, depth, filter, retry or fallback; events and the timeout still hold. */
  enabled: z.boolean(),
  /** Layers below the lead: 1 = lead → sub-agent. 0 or less: no limit of the team; the platform's holds. */
  maxDepth: z.number().int().max(100),
  /** Attempts after the first that failed. */
  maxRetries: z.number().int().min(0).max(10),
  /** Of one attempt, in ms; 0: none. */
  timeoutMs: z.number().int().min(0).max(86_400_000),
  /** Names of handoff tools; empty: all. */
  allowedTools: toolNames,
  deniedTools: toolNames,
  onDenied: handoffFailureAction,
  onError: handoffFailureAction,
  /** Run in this order, once, before the first attempt. */
  inputFilter,
};

/** Rules of delegation as a tool (seed 003 §5); the defaults are the seed's. */
export const handoffPolicy = z.strictObject({
  enabled: fields.enabled.default(true),
  maxDepth: fields.maxDepth.default(1),
  maxRetries: fields.maxRetries.default(0),
  timeoutMs: fields.timeoutMs.default(0),
  allowedTools: fields.allowedTools.default([]),
  deniedTools: fields.deniedTools.default([]),
  onDenied: fields.onDenied.default('fail'),
  onError: fields.onError.default('fail'),
  inputFilter: inputFilter.default([]),
});
export type HandoffPolicy = z.output<typeof handoffPolicy>;

/** What one sub-agent has otherwise than its team. */
export const handoffOverride = z.strictObject(fields).partial();
export type HandoffOverride = z.output<typeof handoffOverride>;
