import { basename } from 'node:path';
import { type AgentDefinition, AppError, agentDefinition, foldName, LIMITS } from '@mailroom/contracts';
import type { z } from 'zod';
import { type FrontMatter, type FrontMatterField, FrontMatterProblem, readFrontMatter } from './front-matter';
import { type Finding, type HandoffGround, handoffDoubts, handoffFaults } from './handoff-check';
import { readToolList } from './tool-list';

export interface AgentFileOptions extends Partial<HandoffGround> {
  /** The tools that the deployment offers. With it `tools: '*'` means all of them, and unknown names get a warning. */
  toolNames?: readonly string[];
}

export interface AgentFile {
  definition: AgentDefinition;
  /** `path:line: what was read otherwise than written`. */
  warnings: string[];
  /** The line of a field, or of one item of a list field; 1 for a field that the file does not have. */
  lineOf(field: keyof AgentDefinition, item?: number): number;
}

const DENIED_TOOLS = 'disallowedTools';
const LINE_KEYS = ['id', 'name', 'model', 'wakeOn', 'collaboration', 'status'];
const DATA_KEYS = [
  'tools',
  'subAgents',
  'handoff',
  'maxSteps',
  'maxCallsPerStep',
  'contextWindow',
  'modelSilenceMs',
  'modelCallMs',
];
const FIELDS = [...LINE_KEYS, ...DATA_KEYS, 'description'];
const KEYS = {
  line: LINE_KEYS,
  prose: ['description'],
  data: [...DATA_KEYS, DENIED_TOOLS],
  // Keys of other products' agent files.
  ignored: (
    'author background category color effort emoji hooks initialPrompt isolation license ' +
    'maxTurns mcpServers memory metadata permissionMode skills tags version'
  ).split(' '),
};
/** Short names that only their own vendor's product resolves; never sent to a provider. */
const FOREIGN_MODELS = ['haiku', 'opus', 'sonnet'];

/**
 * Reads an agent written as Markdown: the front matter holds the fields of an `AgentDefinition`, the body is the
 * system prompt, the id is the file name unless `id` says otherwise. Forgiving where the meaning is clear (bytes round
 * the front matter, unquoted descriptions, `tools` as text or list); an empty field counts as absent, unknown keys are
 * warnings. `tools` that cannot be read never open anything.
 * Throws `misconfigured` with one `path:line: problem` per line of its message.
 */
export function parseAgentFile(path: string, content: Uint8Array | string, options: AgentFileOptions = {}): AgentFile {
  const source = typeof content === 'string' ? content : decode(path, content);
  const matter = frontMatterOf(path, source);
  const warnings = matter.warnings.map(({ line, text }) => `${path}:${line}: ${text}`);
  const reader = new AgentFileReader(path, matter, options, warnings);
  return { definition: reader.definition(), warnings, lineOf: (field, item) => reader.lineOf(field, item) };
}

/** Whether the file begins with a front matter, closed or not. */
export function hasFrontMatter(content: Uint8Array): boolean {
  return /^\uFEFF?\s*---[ \t]*[\r\n]/.test(new TextDecoder('utf-8', { ignoreBOM: true }).decode(content));
}

function decode(path: string, content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch (cause) {
    throw new AppError('misconfigured', `${path}:1: the file is not UTF-8; save it in that encoding`, { cause });
  }
}

function frontMatterOf(path: string, source: string): FrontMatter {
  try {
    const matter = readFrontMatter(source, KEYS);
    if (matter) return matter;
  } catch (thrown) {
    if (!(thrown instanceof FrontMatterProblem)) throw thrown;
    throw new AppError('misconfigured', `${path}:${thrown.line}: ${thrown.message}`);
  }
  const wayOut = 'begin the file with a line ---, entries such as "description: …", and a second line ---';
  throw new AppError('misconfigured', `${path}:1: there is no front matter; ${wayOut}`);
}

class AgentFileReader {
  private readonly problems: string[] = [];

  constructor(
    private readonly path: string,
    private readonly matter: FrontMatter,
    private readonly options: AgentFileOptions,
    private readonly warnings: string[],
  ) {}

  definition(): AgentDefinition {
    this.warnOfUnknownKeys();
    if (this.matter.body === '') this.warn(1, 'there is no system prompt; write it below the front matter');
    const written = {
      ...Object.fromEntries(FIELDS.map((key) => [key, this.filled(key)?.value])),
      id: this.filled('id')?.value ?? basename(this.path).replace(/\.md$/i, ''),
      systemPrompt: this.matter.body,
      model: this.model(),
      tools: this.tools(),
      subAgents: this.subAgents(),
    };
    const present = Object.entries(written).filter(([, value]) => value !== undefined);
    const checked = agentDefinition.safeParse(Object.fromEntries(present));
    if (!this.filled('description'))
      this.fail(this.lineOf('description'), '"description" is missing; say in a sentence when to write to this agent');
    for (const issue of checked.error?.issues ?? []) this.fail(this.lineOfIssue(issue), problemOf(issue));
    if (checked.success) this.checkHandoffs(checked.data);
    if (!checked.success || this.problems.length > 0) throw new AppError('misconfigured', this.problems.join('\n'));
    return checked.data;
  }

  lineOf(key: string, item?: number): number {
    const field = this.matter.fields.get(key);
    return (item === undefined ? undefined : field?.itemLines[item]) ?? field?.line ?? 1;
  }

  /** The field, unless there is nothing in it. */
  private filled(key: string): FrontMatterField | undefined {
    const field = this.matter.fields.get(key);
    const text = typeof field?.value === 'string' ? field.value.trim() : field?.value;
    return text === '' || text === null || text === undefined ? undefined : field;
  }

  private model(): unknown {
    const model = this.filled('model')?.value;
    if (typeof model !== 'string' || model.trim().toLowerCase() === 'inherit') return undefined;
    if (!FOREIGN_MODELS.includes(model.trim().toLowerCase())) return model;
    this.warn(this.lineOf('model'), `the model "${model}" is another product's short name; the default model is used`);
    return undefined;
  }

  private tools(): string[] {
    const named = this.toolList('tools');
    const denied = new Set(this.toolList(DENIED_TOOLS).map(foldName));
    const known = this.options.toolNames;
    const all = named.includes('*') ? known : undefined;
    if (named.includes('*') && !all) this.fail(this.lineOf('tools'), '"tools": "*" is not known here; name the tools');
    const tools = (all ?? named).filter((name) => !denied.has(foldName(name)));
    for (const name of known ? tools.filter((tool) => !known.includes(tool)) : [])
      this.warn(
        this.lineOf('tools'),
        `the tool "${name}" is not offered here; there are ${known?.join(', ') || 'none'}`,
      );
    return tools;
  }

  private toolList(key: string): string[] {
    const field = this.matter.fields.get(key);
    if (!field) return [];
    if (!this.filled(key)) {
      this.warn(field.line, `"${key}" is empty and counts as absent`);
      return [];
    }
    const tools = readToolList(field.value);
    if (!tools) this.fail(field.line, `"${key}" has to be a list of names, or names with commas between them`);
    return tools ?? [];
  }

  /** Names with commas between them are a list too; a number is the name that it spells. */
  private subAgents(): unknown {
    const value = this.filled('subAgents')?.value;
    if (typeof value === 'string') return value.split(',').filter((name) => name.trim() !== '');
    return Array.isArray(value) ? value.map((member) => (typeof member === 'number' ? String(member) : member)) : value;
  }

  private checkHandoffs(definition: AgentDefinition): void {
    const line = ({ path: [key, item] }: Finding) =>
      this.lineOf(String(key), typeof item === 'number' ? item : undefined);
    const { filters, reservedToolNames } = this.options;
    const faults = filters && reservedToolNames && handoffFaults(definition, { filters, reservedToolNames });
    for (const fault of faults ?? []) this.fail(line(fault), `"${fault.path[0]}": ${fault.message}`);
    for (const doubt of handoffDoubts(definition)) this.warn(line(doubt), doubt.message);
  }

  private warnOfUnknownKeys(): void {
    const unknown = [...this.matter.fields].filter(([key]) => !FIELDS.includes(key) && key !== DENIED_TOOLS);
    const [first] = unknown;
    if (!first) return;
    const names = unknown.map(([key]) => `"${key}"`).join(', ');
    this.warn(first[1].line, `${names} ${unknown.length > 1 ? 'have' : 'has'} no meaning here`);
  }

  private lineOfIssue(issue: z.core.$ZodIssue): number {
    const [key, item] = issue.path;
    const surplus = key === 'subAgents' && issue.code === 'too_big' ? LIMITS.rosterSize : undefined;
    return this.lineOf(String(key), surplus ?? (typeof item === 'number' ? item : undefined));
  }

  private warn(line: number, text: string): void {
    this.warnings.push(`${this.path}:${line}: ${text}`);
  }

  private fail(line: number, text: string): void {
    this.problems.push(`${this.path}:${line}: ${text}`);
  }
}

function problemOf(issue: z.core.$ZodIssue): string {
  const field = `"${String(issue.path[0])}": `;
  if (issue.code !== 'invalid_union') return field + issue.message;
  const [asName = []] = issue.errors;
  const reason = asName.find(({ code }) => code !== 'invalid_type')?.message;
  return field + (reason ?? 'a member is the id of an agent, or has the two entries "as" and "agent"');
}
