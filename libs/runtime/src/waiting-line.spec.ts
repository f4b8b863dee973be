import { WaitingLine } from './waiting-line';

/** A line whose things are told to `over`, and a wait until so many were told. */
function lineOf(ms: number) {
  const over: string[] = [];
  let told = () => {};
  const line = new WaitingLine<{ name: string }>(ms, ({ name }) => {
    over.push(name);
    told();
  });
  const until = async (count: number) => {
    while (over.length < count)
      await new Promise<void>((resolve) => {
        told = resolve;
      });
  };
  return { line, over, until };
}
const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];

test('things are told in the order in which they came, each once, and wait no longer', async () => {
  const { line, over, until } = lineOf(5);
  line.add(a);
  line.add(b);
  await until(2);
  line.add(c);
  await until(3);
  expect(over).toEqual(['a', 'b', 'c']);
  expect(line.size).toBe(0);
});

test('nothing is told before its time is over, though a thing before it has left', async () => {
  const { line, over, until } = lineOf(20);
  line.add(a);
  await new Promise((resolve) => setTimeout(resolve, 10));
  const since = performance.now();
  line.add(b);
  expect(line.delete(a)).toBe(true);
  await until(1);
  expect(over).toEqual(['b']);
  expect(performance.now() - since).toBeGreaterThanOrEqual(19);
});

test('a thing that comes again waits behind all others', () => {
  const { line } = lineOf(60_000);
  for (const thing of [a, b]) line.add(thing);
  line.delete(a);
  line.add(a);
  expect(line.first).toBe(b);
  for (const thing of [a, b]) line.delete(thing);
  expect(line.first).toBeUndefined();
  expect(line.delete(a)).toBe(false);
});
