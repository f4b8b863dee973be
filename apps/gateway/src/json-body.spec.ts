import { parseJson } from './json-body';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('R7: nesting of 32 is taken, of 33 is refused', () => {
  expect(parseJson(nested(32))).toBeDefined();
  expect(() => parseJson(nested(33))).toThrow('nested deeper than 32');
});

test('R7: a depth that would break the parser is refused before parsing', () => {
  expect(() => parseJson(nested(500_000))).toThrow('nested deeper than 32');
});

test('R7: brackets inside strings do not count', () => {
  const text = `{"a": "${'['.repeat(100)}\\"${'{'.repeat(100)}\\\\"}`;
  expect(parseJson(text)).toEqual({ a: `${'['.repeat(100)}"${'{'.repeat(100)}\\` });
});

test('what is no JSON is refused without a word of its content', () => {
  expect(() => parseJson('{"secret": tru')).toThrow(/^the body is not valid JSON$/);
});
