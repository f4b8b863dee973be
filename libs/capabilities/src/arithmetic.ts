/** The value of an expression. `exact` is false once a number was too large to keep all its digits. */
export interface ArithmeticResult {
  value: number;
  exact: boolean;
}

interface ArithmeticFunction {
  /** How many arguments it takes: at least, at most. */
  takes: readonly [number, number];
  apply(...args: number[]): number;
}

const FUNCTIONS = new Map<string, ArithmeticFunction>([
  ['sqrt', { takes: [1, 1], apply: Math.sqrt }],
  ['abs', { takes: [1, 1], apply: Math.abs }],
  ['round', { takes: [1, 2], apply: roundTo }],
  ['min', { takes: [1, 100], apply: Math.min }],
  ['max', { takes: [1, 100], apply: Math.max }],
]);
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const DEEPEST = 100;

/**
 * Evaluates `+ - * / %` (the remainder, with the sign of the left side), `^` (from the right, before a sign:
 * `-2^2` is -4), parentheses and the functions sqrt, abs, round(x, digits), min, max. Nothing else is evaluated.
 * Throws RangeError with the position (from 1) of what cannot be read or has no finite value.
 */
export function evaluateArithmetic(expression: string): ArithmeticResult {
  return new Arithmetic(expression).evaluate();
}

class Arithmetic {
  private at = 0;
  private depth = 0;
  private exact = true;

  constructor(private readonly text: string) {}

  evaluate(): ArithmeticResult {
    const value = this.sum();
    if (this.next() !== '') this.fail(`expected an operator or the end, found ${this.found()}`);
    return { value, exact: this.exact };
  }

  private sum(): number {
    let left = this.product();
    for (let sign = this.next(); sign === '+' || sign === '-'; sign = this.next()) {
      const position = this.at++;
      const right = this.product();
      left = this.finite(sign === '+' ? left + right : left - right, position);
    }
    return left;
  }

  private product(): number {
    let left = this.signed();
    for (let sign = this.next(); sign === '*' || sign === '/' || sign === '%'; sign = this.next()) {
      const position = this.at++;
      const right = this.signed();
      if (sign !== '*' && right === 0) this.fail('division by zero', position);
      left = this.finite(sign === '*' ? left * right : sign === '/' ? left / right : left % right, position);
    }
    return left;
  }

  private signed(): number {
    const sign = this.next();
    if (sign !== '-' && sign !== '+') return this.power();
    this.at += 1;
    const value = this.nested(() => this.signed());
    return sign === '-' ? -value : value;
  }

  private power(): number {
    const base = this.operand();
    if (this.next() !== '^') return base;
    const position = this.at++;
    const exponent = this.nested(() => this.signed());
    return this.finite(base ** exponent, position);
  }

  private operand(): number {
    const start = this.next();
    if (start === '(') return this.nested(() => this.list(1)[0] as number);
    const position = this.at;
    const digits = this.take(NUMBER);
    if (digits) return this.finite(Number(digits), position);
    const name = this.take(NAME);
    if (!name) this.fail(`expected a number, found ${this.found()}`);
    return this.call(name, position);
  }

  private call(name: string, position: number): number {
    const called = FUNCTIONS.get(name.toLowerCase());
    if (!called) this.fail(`"${name}" is unknown; there are ${[...FUNCTIONS.keys()].join(', ')}`, position);
    if (this.next() !== '(') this.fail(`expected "(" after ${name}, found ${this.found()}`);
    const [least, most] = called.takes;
    const args = this.nested(() => this.list(most));
    if (args.length < least) this.fail(`${name} takes at least ${least} numbers`, position);
    return this.finite(called.apply(...args), position);
  }

  /** The values between the parenthesis at the current position and its partner. */
  private list(most: number): number[] {
    const opening = this.at++;
    const values = [this.sum()];
    while (this.next() === ',' && values.length < most) {
      this.at += 1;
      values.push(this.sum());
    }
    if (this.next() === '') this.fail('this "(" is never closed', opening);
    if (this.next() !== ')') this.fail(`expected ")", found ${this.found()}`);
    this.at += 1;
    return values;
  }

  private nested<Result>(read: () => Result): Result {
    if (++this.depth > DEEPEST) this.fail(`nesting deeper than ${DEEPEST}`);
    const result = read();
    this.depth -= 1;
    return result;
  }

  private finite(value: number, position: number): number {
    if (!Number.isFinite(value)) this.fail('this has no finite real value', position);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) this.exact = false;
    return value;
  }

  /** The next letter after blanks, not yet taken; empty at the end. */
  private next(): string {
    while (/\s/.test(this.text[this.at] ?? '')) this.at += 1;
    return this.text[this.at] ?? '';
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text)?.[0] ?? '';
    this.at += match.length;
    return match;
  }

  private found(): string {
    const letter = String.fromCodePoint(this.text.codePointAt(this.at) ?? 0);
    return this.at >= this.text.length ? 'the end' : `"${letter}"`;
  }

  private fail(problem: string, position = this.at): never {
    throw new RangeError(`${problem} at position ${position + 1} of "${this.text}"`);
  }
}

/** Rounds halves away from zero, by decimal digits and not by the binary fraction: 1.005 to 2 digits is 1.01. */
function roundTo(value: number, digits = 0): number {
  if (!Number.isInteger(digits) || Math.abs(digits) > 15) return Number.NaN;
  const [mantissa = '0', exponent = '0'] = String(Math.abs(value)).split('e');
  const rounded = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  const [whole, power = '0'] = String(rounded).split('e');
  return Math.sign(value) * Number(`${whole}e${Number(power) - digits}`);
}
