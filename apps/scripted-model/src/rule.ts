import { z } from 'zod';

const regex = z.string().transform((source, context) => {
  try {
    return new RegExp(source, 'iu');
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

const names = z.union([z.string(), z.array(z.string()).min(1)]).transform((value) => [value].flat());
const template = z.string();

/**
 * Something that happened: mail that came (`got: <type>`), mail that was sent (`sent: <type>`), a tool that was used
 * (`used: <tool>`) or a text that was said (`said: final | interim`); `*` is any. `as` gives the latest match a name for
 * templates. A late result matches only `late: true`.
 */
const pattern = z
  .strictObject({
    got: names.optional(),
    sent: names.optional(),
    used: names.optional(),
    said: names.optional(),
    from: names.optional(),
    to: names.optional(),
    status: names.optional(),
    late: z.boolean().default(false),
    text: regex.optional(),
    as: z.string().optional(),
  })
  .refine(
    ({ got, sent, used, said }) => [got, sent, used, said].filter(Boolean).length === 1,
    'say exactly one of got, sent, used, said',
  );
export type Pattern = z.output<typeof pattern>;
const patterns = z.array(pattern).default([]);

/** All that is stated must hold. Regular expressions ignore case. */
const when = z.strictObject({
  role: names.optional(),
  /** The agent's address, or the name that it is an instance of: `alice` for `alice#2`. */
  agent: names.optional(),
  /** The agent was called as a tool. */
  called: z.boolean().optional(),
  /** Names that must all be in the lead's team, or whether there is one. */
  roster: z.union([z.enum(['some', 'none']), z.array(z.string()).min(1)]).optional(),
  /** Tools that must all be offered, or `none`. The tools that the rule calls must be offered anyway. */
  tools: z.union([z.literal('none'), z.array(z.string()).min(1)]).optional(),
  /** On what is to be done. Named groups are templates: `{{match.name}}`. */
  request: regex.optional(),
  /** An unanswered question; in templates `{{question}}`. */
  question: z.strictObject({ from: names.optional(), text: regex.optional() }).optional(),
  /** On an engine sentence, if nothing came after it; in templates `{{engine}}`. */
  engine: regex.optional(),
  /** A lead: a given task has no result. A sub-agent: its task is not reported. */
  open: z.boolean().optional(),
  /** Each is in this round. */
  has: patterns,
  /** None is in this round. */
  lacks: patterns,
  /** Each came since the last answer. */
  fresh: patterns,
  /** Each is anywhere in the agent's memory. */
  ever: patterns,
  /** On the table of facts. */
  facts: regex.optional(),
  /** On the whole request. */
  text: regex.optional(),
  /** Answers of the model in this round. */
  steps: z.strictObject({ min: z.number().int().optional(), max: z.number().int().optional() }).optional(),
});
export type When = z.output<typeof when>;

/** Stands for the tool that calls the member of an `each: roster`. */
export const ANY_CALLEE = 'subagent_*';

const call = z.strictObject({
  tool: z.string(),
  with: z.record(z.string(), z.union([template, z.number(), z.boolean()])).default({}),
  /** One call for each name of the roster (`{{member}}`) or for each unanswered question (`{{question}}`). */
  each: z.enum(['roster', 'questions']).optional(),
});
export type Call = z.output<typeof call>;

/**
 * A barrier. With `parties` it opens when so many requests are there together; without, only on release. Each waits
 * `timeoutMs` at most. `afterPieces`: the answer is held in its middle (streaming only) instead of before its start.
 */
const hold = z.strictObject({
  name: z.string().regex(/^[\w.-]+$/, 'a barrier name has letters, digits, "_", "." and "-"'),
  parties: z.number().int().min(2).optional(),
  timeoutMs: z.number().int().min(1).default(20_000),
  afterPieces: z.number().int().min(0).default(0),
});
export type Hold = z.output<typeof hold>;

/**
 * One rule. A rule with `say`, `call` or `status` answers, the first that matches; one with only `delayMs` or `hold`
 * slows the answer of the rule that comes after it.
 */
export const rule = z
  .strictObject({
    name: z.string().min(1),
    when: when.prefault({}),
    say: template.optional(),
    call: z.array(call).default([]),
    delayMs: z.number().int().min(0).default(0),
    hold: hold.optional(),
    /** Answers with this error instead. */
    status: z.number().int().min(400).max(599).optional(),
    /** Seconds of the Retry-After header. */
    retryAfter: z.number().min(0).optional(),
    /** Applies to one request only, as long as the server runs. */
    once: z.boolean().default(false),
  })
  .refine(
    (value) => isAnswering(value) || value.delayMs > 0 || value.hold,
    'a rule needs one of say, call, status, delayMs, hold',
  )
  .refine((value) => value.status === undefined || !(value.say || value.call.length), 'status excludes say and call');
export type Rule = z.output<typeof rule>;

/** Whether a rule ends the search; the others only slow the answer. */
export function isAnswering(value: {
  say?: string | undefined;
  call: readonly unknown[];
  status?: number | undefined;
}): boolean {
  return value.say !== undefined || value.call.length > 0 || value.status !== undefined;
}

/** A rules file: its own rules come before those of the files that it includes (paths relative to it). */
export const rulesFile = z.strictObject({
  include: z.array(z.string()).default([]),
  rules: z.array(z.unknown()).default([]),
});
