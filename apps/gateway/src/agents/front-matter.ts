import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

/** One top-level entry of a front matter. Lines count from 1 in the file. */
export interface FrontMatterField {
  /** What YAML makes of it; scalars of text keys as they were written. */
  value: unknown;
  line: number;
  /** The line of each item of a list. */
  itemLines: number[];
}

export interface FrontMatter {
  fields: Map<string, FrontMatterField>;
  /** The text after the second fence, without blank lines round it. */
  body: string;
  warnings: { line: number; text: string }[];
}

/** The keys that a file may have, by what stands after them. Others are read as well, where YAML can. */
export interface FrontMatterKeys {
  /** One line of text. */
  line: readonly string[];
  /** Text that may go on over lines, also over such as look like entries of unknown keys. */
  prose: readonly string[];
  /** Lists, numbers and the like. */
  data: readonly string[];
  /** Known to end a text, else of no meaning; never a reason to refuse a file. */
  ignored: readonly string[];
}

/** What is wrong with a file, and on which of its lines. */
export class FrontMatterProblem extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

const FENCE = /^---[ \t]*$/;

/**
 * Splits a Markdown file into the entries between its first two `---` lines and the body. Byte order mark, CRLF, CR
 * and blank lines before the first fence are invisible; later rules belong to the body. Entries are YAML; where they
 * are not, as with descriptions that hold `: ` and no quotes, they are read line by line, with a warning. Undefined
 * when the file does not begin with a fence. Throws FrontMatterProblem when neither reading holds.
 */
export function readFrontMatter(source: string, keys: FrontMatterKeys): FrontMatter | undefined {
  const lines = source
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n');
  const open = lines.findIndex((line) => line.trim() !== '');
  if (open < 0 || !FENCE.test(lines[open] ?? '')) return undefined;
  const first = open + 1;
  const length = lines.slice(first).findIndex((line) => FENCE.test(line));
  if (length < 0)
    throw new FrontMatterProblem(first, 'the front matter is not closed; add a line --- after its last entry');
  const inside = lines.slice(first, first + length);
  const body = lines
    .slice(first + length + 1)
    .join('\n')
    .trim();
  const strict = readYaml(inside, first, keys);
  if (strict instanceof Map) return { fields: strict, body, warnings: [] };
  const text = `read line by line, because YAML refuses it (${strict.message}); put such a text in quotes or after "|"`;
  return { fields: readLines(inside, first, keys), body, warnings: [{ line: strict.line, text }] };
}

/** `above` is the number of the file's lines before these. Answers with the problem where they are no YAML. */
function readYaml(
  lines: readonly string[],
  above: number,
  keys: FrontMatterKeys,
): Map<string, FrontMatterField> | FrontMatterProblem {
  const lineCounter = new LineCounter();
  const document = parseDocument(lines.join('\n'), { lineCounter, prettyErrors: false });
  const lineAt = (node: Node | null) => above + lineCounter.linePos(node?.range?.[0] ?? 0).line;
  const [error] = document.errors;
  if (error) return new FrontMatterProblem(above + lineCounter.linePos(error.pos[0]).line, error.message);
  const fields = new Map<string, FrontMatterField>();
  if (document.contents === null) return fields;
  if (!isMap<Node, Node | null>(document.contents))
    return new FrontMatterProblem(above + 1, 'it has no "key: value" lines');
  for (const { key, value } of document.contents.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const line = lineAt(key);
    const isText = keys.line.includes(name) || keys.prose.includes(name);
    if (isText && value && !isScalar(value)) return new FrontMatterProblem(line, `"${name}" is no text`);
    try {
      const read: unknown = isText && isScalar(value) ? writtenText(value.value, value.source) : value?.toJS(document);
      fields.set(name, { value: read, line, itemLines: isSeq<Node>(value) ? value.items.map(lineAt) : [] });
    } catch (thrown) {
      // An alias without its anchor, or anchors that multiply without end.
      if (!(thrown instanceof ReferenceError)) throw thrown;
      return new FrontMatterProblem(line, `"${name}": ${thrown.message}`);
    }
  }
  return fields;
}

/** `1.10` and `4` are text where text is meant, and not numbers that print otherwise. */
function writtenText(value: unknown, source: string | undefined): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? (source ?? String(value)) : value;
}

function readLines(lines: readonly string[], above: number, keys: FrontMatterKeys): Map<string, FrontMatterField> {
  const known = [...keys.line, ...keys.prose, ...keys.data, ...keys.ignored];
  const fields = new Map<string, FrontMatterField>();
  let start = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('#'));
  while (start >= 0 && start < lines.length) {
    const name = keyOf(lines[start] ?? '');
    const line = above + start + 1;
    if (name === undefined) throw new FrontMatterProblem(line, 'no key begins this line; write "key: value"');
    if (fields.has(name)) throw new FrontMatterProblem(line, `"${name}" is there twice; delete one`);
    let end = start + 1;
    for (; end < lines.length; end++) {
      const next = keyOf(lines[end] ?? '');
      if (next !== undefined && (known.includes(next) || !keys.prose.includes(name))) break;
    }
    fields.set(name, readEntry(name, lines.slice(start, end), line, keys));
    start = end;
  }
  return fields;
}

function keyOf(line: string): string | undefined {
  return /^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]|$)/.exec(line)?.[1];
}

/** One entry: as YAML if it is that when alone, else, for text, as it stands. */
function readEntry(name: string, lines: readonly string[], line: number, keys: FrontMatterKeys): FrontMatterField {
  const alone = readYaml(lines, line - 1, keys);
  const field = alone instanceof Map && alone.size === 1 ? alone.get(name) : undefined;
  if (field) return field;
  const text = lines
    .map((part) => part.trim())
    .join('\n')
    .replace(/^[^:]*:/, '')
    .trim();
  const isKnown = [...keys.line, ...keys.prose, ...keys.data].includes(name);
  const fits = keys.prose.includes(name) || (keys.line.includes(name) && !text.includes('\n'));
  // A text that begins like YAML and is none is a mistake, and not a text that somebody meant so.
  if (isKnown && (!fits || /^["'[\]{}&*!|>%@`#]/.test(text))) {
    const reason = alone instanceof Map ? 'other entries follow on its lines' : alone.message;
    throw new FrontMatterProblem(line, `"${name}" cannot be read (${reason}); put its text in quotes`);
  }
  return { value: text, line, itemLines: [] };
}
