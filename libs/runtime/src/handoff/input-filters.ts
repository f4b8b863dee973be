import { AppError, type InputFilterStep } from '@mailroom/contracts';
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

const truncateOptions = z.strictObject({ maxChars: z.number().int().min(1).default(8_000) });
const appendOptions = z.strictObject({ text: z.string().min(1) });

const BUILT_IN: Record<string, InputFilter> = {
  'redact-secrets': (input) =>
    mapTexts(input, (text) => SECRETS.reduce((kept, shape) => kept.replace(shape, SECRET), text)),
  truncate: (input, options) => {
    const { maxChars } = truncateOptions.parse(options);
    return mapTexts(input, (text) => (text.length > maxChars ? `${text.slice(0, maxChars)}\n[cut here]` : text));
  },
  'append-context': (input, options) => {
    const { text } = appendOptions.parse(options);
    return { ...input, context: input.context === undefined ? text : `${input.context}\n\n${text}` };
  },
};

/** The input filters of a process: `redact-secrets`, `truncate {maxChars}`, `append-context {text}`, and own ones. */
export class InputFilters {
  private readonly filters: ReadonlyMap<string, InputFilter>;

  /** Throws `misconfigured` when an own filter has the name of one that is there. */
  constructor(own: Record<string, InputFilter> = {}) {
    const taken = Object.keys(own).find((name) => name in BUILT_IN);
    if (taken)
      throw new AppError('misconfigured', `the input filter "${taken}" exists already: give yours another name`);
    this.filters = new Map(Object.entries({ ...BUILT_IN, ...own }));
  }

  names(): string[] {
    return [...this.filters.keys()];
  }

  /** Runs the steps in order. Throws `misconfigured` for an unknown filter, and what a filter throws. */
  apply(steps: readonly InputFilterStep[], input: HandoffInput, context: FilterContext): HandoffInput {
    return steps.reduce((current, { name, options }) => {
      const filter = this.filters.get(name);
      if (!filter)
        throw new AppError('misconfigured', `there is no input filter "${name}": there are ${this.names().join(', ')}`);
      return filter(current, options, context) ?? current;
    }, input);
  }
}

function mapTexts({ task, context }: HandoffInput, map: (text: string) => string): HandoffInput {
  return { task: map(task), ...(context !== undefined && { context: map(context) }) };
}
