import { Random } from './random';

const draw = (random: Random) => Array.from({ length: 50 }, () => random.whole(1, 6));

test('a seed repeats its numbers, another seed and another name have others', () => {
  expect(draw(new Random(7))).toEqual(draw(new Random(7)));
  expect(draw(new Random(7))).not.toEqual(draw(new Random(8)));
  expect(draw(new Random(7).named('a'))).not.toEqual(draw(new Random(7).named('b')));
});

test('a named source does not depend on how much was drawn elsewhere', () => {
  const first = new Random(7);
  const links = first.named('links');
  draw(links);
  expect(draw(first.named('phases'))).toEqual(draw(new Random(7).named('phases')));
});

test('whole numbers stay within their bounds and reach both', () => {
  const drawn = new Set(draw(new Random(1)));
  expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([1, 6]);
});
