import { countTokens } from '@mailroom/llm';
import { cutBodies, startOf } from './cut-body';

const WINDOW = 8_000;
const long = (tokens: number) => 'river '.repeat(tokens);
const cut = (...texts: string[]) =>
  cutBodies(
    {},
    texts.map((text, i) => ({ id: `msg_${i}`, text })),
    WINDOW,
  );

test('R22: without a known window, and within a quarter of it, everything is shown whole', () => {
  const texts = [long(1_990), 'short'];
  expect(cut(...texts)).toEqual(texts);
  expect(cutBodies({}, [{ id: 'a', text: long(50_000) }], undefined)).toEqual([long(50_000)]);
});

test('R22: a longer body is shown as head and tail, with the call that reads on', () => {
  const [shown = ''] = cut(`Head. ${long(9_000)}The tail.`);
  expect(countTokens(shown)).toBeLessThanOrEqual(WINDOW / 4);
  expect(shown).toMatch(/^Head\. river/);
  expect(shown).toMatch(/river The tail\.$/);
  const marker = /\[cut here: (\d+) characters are not shown; read_message (\{.*\}) gives them\]/.exec(shown);
  const { id, offset } = JSON.parse(marker?.[2] ?? '');
  expect(id).toBe('msg_0');
  expect(shown.indexOf('\n[cut here')).toBe(offset);
  expect(shown.length - (marker?.[0].length ?? 0) - 2 + Number(marker?.[1])).toBe(long(9_000).length + 15);
});

test('R22: bodies of one entry share three eighths of the window, and short ones leave their room to long ones', () => {
  const [short, ...rest] = cut('short', ...Array.from({ length: 5 }, () => long(1_900)), long(450));
  expect(short).toBe('short');
  expect(rest.at(-1)).toBe(long(450));
  const sizes = rest.slice(0, 5).map(countTokens);
  for (const size of sizes) expect(size).toBeLessThanOrEqual(512);
  expect(Math.min(...sizes)).toBeGreaterThan(350);
});

test.each(['🦊', '你', 'a\u0301'])('no cut parts the halves of the character %p', (letter) => {
  const text = letter.repeat(9_000);
  const [shown = ''] = cut(text);
  expect(shown).toBe(shown.toWellFormed());
  let at = 0;
  let read = '';
  while (at < text.length) {
    const piece = startOf(text, at, 1_000);
    expect(piece).toBe(piece.toWellFormed());
    expect(piece.length).toBeGreaterThan(0);
    read += piece;
    at += piece.length;
  }
  expect(read).toBe(text);
  expect(startOf(text, 0, 0)).toBe(text.slice(0, startOf(text, 0, 0).length));
});
