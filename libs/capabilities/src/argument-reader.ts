import { LIMITS } from '@mailroom/contracts';

/** The arguments of a tool call as an object, or a text for the model that says what is wrong and where. */
export type ReadArguments = { ok: true; value: Record<string, unknown> } | { ok: false; error: string };

const FENCE_START = /^\s*```[\w-]*[ \t]*\r?\n/;
const FENCE_END = /[ \t\r\n]*```/y;
const CLOSING_TAGS = /(?:[ \t\r\n]*<\/[A-Za-z_][\w:.-]*>)*[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['True', true],
  ['False', false],
  ['None', null],
]);
const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Reads the arguments that a model wrote for a tool call. Never throws.
 *
 * Strict JSON means what `JSON.parse` makes of it. Beyond it only what has one reading is taken: a code fence around
 * the whole, trailing commas, single quotes, Python's `True`, `False` and `None`, raw line ends and tabs inside a string, JSON
 * packed into a JSON string once, closing tags after the end. The empty text is `{}`. Everything else is an error with
 * its position: text that is cut off, two values, a value that is no object, a whole number that would lose digits.
 * R7: nesting deeper than 32 is refused where it is met; the rest is not read.
 */
export function readArguments(raw: string): ReadArguments {
  if (raw.trim() === '') return { ok: true, value: {} };
  try {
    let value = new ArgumentReader(raw).read();
    if (typeof value === 'string' && value.trimStart().startsWith('{')) value = new ArgumentReader(value).read();
    if (isObject(value)) return { ok: true, value };
    return { ok: false, error: `the arguments have to be one JSON object, but they are ${kindOf(value)}` };
  } catch (thrown) {
    if (thrown instanceof UnreadableArguments) return { ok: false, error: thrown.message };
    throw thrown;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

class UnreadableArguments extends SyntaxError {
  constructor(problem: string, text: string, position: number) {
    const lines = text.slice(0, position).split('\n');
    const column = (lines.at(-1)?.length ?? 0) + 1;
    super(
      `the arguments are no readable JSON: ${problem} at position ${position} (line ${lines.length}, column ${column})`,
    );
  }
}

class ArgumentReader {
  private at = 0;

  constructor(private readonly text: string) {}

  read(): unknown {
    const fence = FENCE_START.exec(this.text);
    if (fence) this.at = fence[0].length;
    const value = this.value(0);
    if (fence && !this.take(FENCE_END)) this.fail('expected the closing ```');
    this.take(CLOSING_TAGS);
    if (this.at < this.text.length) this.fail(`expected the end after the first value, found ${this.found()}`);
    return value;
  }

  private value(depth: number): unknown {
    this.skipBlanks();
    const start = this.text[this.at];
    if (start === '{' || start === '[') {
      if (depth === LIMITS.jsonDepth) this.fail(`nesting deeper than ${LIMITS.jsonDepth}`);
      return start === '{' ? this.object(depth + 1) : this.array(depth + 1);
    }
    if (start === '"' || start === "'") return this.string(start);
    if (start === '-' || (start !== undefined && start >= '0' && start <= '9')) return this.number();
    const word = /^[A-Za-z]+/.exec(this.text.slice(this.at, this.at + 6))?.[0] ?? '';
    if (!WORDS.has(word)) this.fail(`expected a value, found ${this.found()}`);
    this.at += word.length;
    return WORDS.get(word);
  }

  private object(depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    this.items('}', () => {
      const quote = this.text[this.at];
      if (quote !== '"' && quote !== "'") this.fail(`expected a quoted name or "}", found ${this.found()}`);
      const name = this.string(quote as string);
      this.skipBlanks();
      if (this.text[this.at] !== ':') this.fail(`expected ":" after the name, found ${this.found()}`);
      this.at += 1;
      const value = this.value(depth);
      // A plain assignment to `__proto__` would replace the prototype of the object.
      Object.defineProperty(result, name, { value, enumerable: true, writable: true, configurable: true });
    });
    return result;
  }

  private array(depth: number): unknown[] {
    const result: unknown[] = [];
    this.items(']', () => result.push(this.value(depth)));
    return result;
  }

  /** The items between the bracket at the current position and `end`; a comma may stand before `end`, but not alone. */
  private items(end: string, readItem: () => void): void {
    this.at += 1;
    this.skipBlanks();
    while (this.text[this.at] !== end) {
      readItem();
      this.skipBlanks();
      if (this.text[this.at] === ',') {
        this.at += 1;
        this.skipBlanks();
      } else if (this.text[this.at] !== end) this.fail(`expected "," or "${end}", found ${this.found()}`);
    }
    this.at += 1;
  }

  private string(quote: string): string {
    const opening = this.at;
    let result = '';
    let copied = ++this.at;
    for (;;) {
      const letter = this.text[this.at];
      if (letter === undefined) this.fail(`the text ends inside the string that began at position ${opening}`);
      if (letter === quote || letter === '\\') {
        result += this.text.slice(copied, this.at);
        this.at += 1;
        if (letter === quote) return result;
        result += this.escape(quote);
        copied = this.at;
      } else if (letter < ' ' && letter !== '\n' && letter !== '\r' && letter !== '\t') {
        this.fail('a control character inside a string');
      } else this.at += 1;
    }
  }

  private escape(quote: string): string {
    const letter = this.text[this.at] ?? '';
    const plain = letter === quote ? letter : Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (plain !== undefined) {
      this.at += 1;
      return plain;
    }
    const hex = this.text.slice(this.at + 1, this.at + 5);
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) this.fail('an unknown escape inside a string');
    this.at += 5;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  private number(): number {
    const start = this.at;
    const digits = this.take(NUMBER);
    if (!digits) this.fail(`expected a number, found ${this.found()}`);
    const value = Number(digits);
    const exact = /^-?\d+$/.test(digits) ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (exact) return value;
    this.at = start;
    this.fail(
      `the number ${digits.slice(0, 40)} is too large to be kept exactly; send it as a string if the tool allows`,
    );
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text)?.[0] ?? '';
    this.at += match.length;
    return match;
  }

  private skipBlanks(): void {
    while (' \t\r\n'.includes(this.text[this.at] ?? '.')) this.at += 1;
  }

  private found(): string {
    return this.at >= this.text.length ? 'the end of the text' : JSON.stringify(this.text.slice(this.at, this.at + 12));
  }

  private fail(problem: string): never {
    throw new UnreadableArguments(problem, this.text, this.at);
  }
}
