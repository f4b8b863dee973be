import { cutText, NO_OUTPUT, outcomeOfReturned, outcomeOfThrown } from './tool-outcome';

const circular: Record<string, unknown> = { a: 1 };
circular.self = circular;

class Unwilling {
  get secret(): string {
    throw new Error('the getter failed');
  }
  toJSON(): never {
    throw new TypeError('no form');
  }
}

describe('what a model reads of a result', () => {
  it.each([
    ['undefined', undefined, NO_OUTPUT],
    ['null', null, NO_OUTPUT],
    ['an empty string', '', NO_OUTPUT],
    ['blanks', ' \n', NO_OUTPUT],
    ['false', false, 'false'],
    ['zero', 0, '0'],
    ['a bigint', 12345678901234567890n, '12345678901234567890'],
    ['a string', ' as it is ', ' as it is '],
    ['an object', { a: [1, null] }, '{"a":[1,null]}'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['a map', new Map([['k', { deep: new Set([1]) }]]), '{"k":{"deep":[1]}}'],
    ['a map with other keys', new Map([[1, 'one']]), '[[1,"one"]]'],
    ['a buffer', Buffer.from([0, 255, 254]), '(binary result: 3 bytes, Buffer)'],
    ['an array buffer', new ArrayBuffer(8), '(binary result: 8 bytes, ArrayBuffer)'],
    ['a blob', new Blob(['abc'], { type: 'image/png' }), '(binary result: 3 bytes, image/png)'],
    ['a buffer inside', { file: Buffer.from('ab') }, '{"file":"(binary result: 2 bytes, Buffer)"}'],
  ])('%s becomes a text', (_name, value, content) => {
    expect(outcomeOfReturned('t', value)).toEqual({ content, error: false });
  });

  it.each([
    ['a cycle', circular, /circular/i],
    ['a bigint inside', { n: 1n }, /BigInt/],
    ['an object that refuses', new Unwilling(), /no form/],
    ['a function', () => 1, /a function has no JSON form/],
    ['a symbol', Symbol('s'), /a symbol has no JSON form/],
  ])('%s is an error that names the tool and the reason', (_name, value, reason) => {
    const outcome = outcomeOfReturned('my_tool', value);
    expect(outcome.error).toBe(true);
    expect(outcome.content).toMatch(/^the tool "my_tool" ran, but its result cannot be shown as text/);
    expect(outcome.content).toMatch(reason);
  });

  it('an Error that is returned counts as a failure', () => {
    expect(outcomeOfReturned('t', new Error('disk full'))).toEqual({
      content: 'the tool "t" failed: disk full',
      error: true,
    });
  });

  it.each([
    ['an error with a circular cause', Object.assign(new Error('disk full'), { cause: circular }), 'disk full'],
    ['an error without a message', new TypeError(), 'TypeError'],
    ['a string', 'plain string', 'plain string'],
    ['a number', 42, '42'],
    ['undefined', undefined, 'no reason was given (undefined was thrown)'],
    ['an object without a prototype', Object.create(null), '{}'],
    ['an object without a form', new Unwilling(), 'the thrown value cannot be shown as text'],
    ['an empty string', '', 'no reason was given'],
  ])('%s thrown becomes an error text', (_name, thrown, reason) => {
    expect(outcomeOfThrown('t', thrown)).toEqual({ content: `the tool "t" failed: ${reason}`, error: true });
  });

  it('a long text is cut between letters, and the marker says how much is missing', () => {
    const text = '字'.repeat(1_000);
    const cut = cutText(text, 1_000);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1_000);
    const [head, marker] = cut.split('\n') as [string, string];
    expect(text.startsWith(head)).toBe(true);
    expect(marker).toBe(`[cut here: the last ${3_000 - Buffer.byteLength(head)} of 3000 bytes are not shown]`);
    expect(cutText(text, 3_000)).toBe(text);
  });
});
