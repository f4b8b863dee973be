import { countTokens } from './token-count';

test('a token is at least one byte, and what looks like a control token is counted as text', () => {
  for (const text of ['', 'a', 'Hello, world', '<|endoftext|>', '你好世界', '🦊🦊', ' '.repeat(1_000)])
    expect(countTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
  expect(countTokens('Hello, world')).toBe(3);
  expect(countTokens('The river runs. '.repeat(500))).toBe(countTokens('The river runs. ') * 500 - 499);
  expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
});

test('a long text without blanks is counted in pieces, and costs what its length says', () => {
  const letters = Array.from({ length: 500 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000))).join('');
  const once = countTokens(letters);
  expect(countTokens(letters.repeat(100))).toBeLessThanOrEqual(once * 100 + 100);
});
