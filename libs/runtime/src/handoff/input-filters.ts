import { AppError, type InputFilterStep, wayOut } from '@mailroom/contracts';
import { z } from 'zod';
import type { HandoffInput } from './handoff-arguments';

/** What a filter may know of the call. */
export interface FilterContext {
  sessionId: string;
  /** Address of the caller, and the tool that it called. */
  agent: string;
  tool: string;
}

/** Rewrites what is delegated; returning nothing leaves it as it was. `options` come from the definition. */
export type InputFilter = (
  input: HandoffInput,
  options: Record<string, unknown>,
  context: FilterContext,
) => HandoffInput | undefined;

const SECRET = '[redacted]';

/** Shapes of secrets that are met in prompts; a false alarm costs a word, a miss costs a key. */
const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}\b/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}\b/g,
  /\bxox[abposr]-[A-Za-z0-9-]{10,}\b/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{35}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\b/g,
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/gi,
  /(?<=\b(?:password|passwd|secret|token|api[_-]?key|authorization)["']?\s*[:=]\s*["']?(?:bearer\s+)?)[^\s"',;]{4,}/gi,
];

/** A built-in filter, which says beforehand what is wrong with options. */
interface BuiltIn {
  options: z.ZodType;
  apply: InputFilter;
}

function builtIn<Options>(
  options: z.ZodType<Options>,
  apply: (input: HandoffInput, options: Options) => HandoffInput,
): BuiltIn {
  return { options, apply: (input, given) => apply(input, options.parse(given)) };
}

const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map(
  Object.entries({
    'redact-secrets': builtIn(z.strictObject({}), (input) =>
      mapTexts(input, (text) => SECRETS.reduce((kept, shape) => kept.replace(shape, SECRET), text)),
    ),
    truncate: builtIn(z.strictObject({ maxChars: z.number().int().min(1).default(8_000) }), (input, { maxChars }) =>
      mapTexts(input, (text) => (text.length > maxChars ? `${text.slice(0, maxChars)}\n[cut here]` : text)),
    ),
    'append-context': builtIn(z.strictObject({ text: z.string().min(1) }), (input, { text }) => ({
      ...input,
      context: input.context === undefined ? text : `${input.context}\n\n${text}`,
    })),
  }),
);

/** The input filters of a process: `redact-secrets`, `truncate {maxChars}`, `append-context {text}`, and own ones. */
export class InputFilters {
  private readonly own: ReadonlyMap<string, InputFilter>;

  /** Throws `misconfigured` when an own filter has the name of one that is there. */
  constructor(own: Record<string, InputFilter> = {}) {
    const taken = Object.keys(own).find((name) => BUILT_IN.has(name));
    if (taken)
      throw new AppError('misconfigured', `the input filter "${taken}" exists already: give yours another name`);
    this.own = new Map(Object.entries(own));
  }

  /**
   * Why a step cannot be run, in a sentence with the way out; undefined when it can. Own filters look at their options
   * themselves.
   */
  faultOf({ name, options }: InputFilterStep): string | undefined {
    if (this.own.has(name)) return undefined;
    const filter = BUILT_IN.get(name);
    if (!filter) return `there is no input filter "${name}"; ${wayOut(name, [...BUILT_IN.keys(), ...this.own.keys()])}`;
    const issue = filter.options.safeParse(options).error?.issues[0];
    return (
      issue &&
      `the input filter "${name}" does not take these options: ${[...issue.path, ''].join(': ')}${issue.message}`
    );
  }

  /** Runs the steps in order. Throws `misconfigured` for a step that cannot be run, and what a filter throws. */
  apply(steps: readonly InputFilterStep[], input: HandoffInput, context: FilterContext): HandoffInput {
    return steps.reduce((current, step) => {
      const fault = this.faultOf(step);
      if (fault !== undefined) throw new AppError('misconfigured', fault);
      const filter = this.own.get(step.name) ?? BUILT_IN.get(step.name)?.apply;
      return filter?.(current, step.options, context) ?? current;
    }, input);
  }
}

function mapTexts({ task, context }: HandoffInput, map: (text: string) => string): HandoffInput {
  return { task: map(task), ...(context !== undefined && { context: map(context) }) };
}
