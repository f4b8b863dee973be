import { ToolCallAssembly } from './tool-call-assembly';

type Entry = Record<string, unknown>;

/** `[id, name, arguments, index]` as a wire entry; undefined leaves a field out. */
function entry(id?: string, name?: string, args?: unknown, index?: number): Entry {
  return {
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id, type: 'function' }),
    function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
  };
}

function assemble(...deltas: Entry[][]): [string, string, string][] {
  const assembly = new ToolCallAssembly();
  for (const delta of deltas) assembly.take(delta);
  return assembly.finish().map((call) => [call.id, call.name, call.arguments]);
}

const OSLO = '{"city":"Oslo"}';
const LIMA = '{"city":"Lima"}';
const generated = expect.stringMatching(/^call_[0-9a-f]{32}$/);

describe('tool calls of a stream', () => {
  it('a conforming stream gives its calls, also when their fragments are mixed', () => {
    const got = assemble(
      [entry('a', 'weather', '', 0)],
      [entry('b', 'weather', '', 1)],
      [entry(undefined, undefined, '{"city":', 0), entry(undefined, undefined, '{"city":', 1)],
      [entry(undefined, undefined, '"Lima"}', 1)],
      [entry(undefined, undefined, '"Oslo"}', 0)],
    );
    expect(got).toEqual([
      ['a', 'weather', OSLO],
      ['b', 'weather', LIMA],
    ]);
  });

  it.each([
    [
      'without index, in pieces',
      [
        [entry('a', 'weather', '')],
        [entry(undefined, undefined, '{"city":"Os')],
        [entry(undefined, undefined, 'lo"}')],
        [entry('b', 'weather', '')],
        [entry(undefined, undefined, '{"city":')],
        [entry(undefined, undefined, '"Lima"}')],
      ],
    ],
    ['without index, in one delta', [[entry('a', 'weather', OSLO), entry('b', 'weather', LIMA)]]],
    ['all with index 0', [[entry('a', 'weather', OSLO, 0)], [entry('b', 'weather', LIMA, 0)]]],
    [
      'all with index 0, in pieces',
      [
        [entry('a', 'weather', '', 0)],
        [entry(undefined, undefined, OSLO, 0)],
        [entry('b', 'weather', '', 0)],
        [entry(undefined, undefined, LIMA, 0)],
      ],
    ],
    [
      'with the index only on the continuation',
      [
        [entry('a', 'weather', '')],
        [entry(undefined, undefined, OSLO, 0)],
        [entry('b', 'weather', '')],
        [entry(undefined, undefined, LIMA, 1)],
      ],
    ],
    [
      'with id and name in every chunk',
      [
        [entry('a', 'weather', '{"city":', 0)],
        [entry('a', 'weather', '"Oslo"}', 0)],
        [entry('a', 'weather', '', 0)],
        [entry('b', 'weather', '{"city":', 1)],
        [entry('b', 'weather', '"Lima"}', 1)],
      ],
    ],
    [
      'with empty ids and names on continuations',
      [
        [entry('a', 'weather', '{"city":', 0)],
        [entry('', '', '"Oslo"}', 0)],
        [entry('b', 'weather', '{"city":', 1)],
        [entry('', '', '"Lima"}', 1)],
      ],
    ],
    [
      'with another id in every chunk',
      [
        [entry('a', 'weather', '{"city":', 0)],
        [entry('x', undefined, '"Oslo"}', 0)],
        [entry('b', 'weather', '{"city":', 1)],
        [entry('y', undefined, '"Lima"}', 1)],
      ],
    ],
    [
      'with the name after the id',
      [
        [entry('a', undefined, undefined, 0)],
        [entry(undefined, 'weather', OSLO, 0)],
        [entry('b', undefined, undefined, 1)],
        [entry(undefined, 'weather', LIMA, 1)],
      ],
    ],
    [
      'with objects as arguments',
      [[entry('a', 'weather', { city: 'Oslo' }, 0)], [entry('b', 'weather', { city: 'Lima' }, 1)]],
    ],
  ] as [string, Entry[][]][])('two calls %s stay two calls', (_, deltas) => {
    expect(assemble(...deltas)).toEqual([
      ['a', 'weather', OSLO],
      ['b', 'weather', LIMA],
    ]);
  });

  it.each([
    ['with an index each', 0, 1],
    ['all with index 0', 0, 0],
    ['without an index', undefined, undefined],
  ])('calls that never had an id, %s, get one each', (_, first, second) => {
    const got = assemble([entry(undefined, 'weather', OSLO, first)], [entry(undefined, 'weather', LIMA, second)]);
    expect(got).toEqual([
      [generated, 'weather', OSLO],
      [generated, 'weather', LIMA],
    ]);
    expect(got[0]?.[0]).not.toBe(got[1]?.[0]);
  });

  it('one id for two calls is kept once', () => {
    expect(assemble([entry('a', 'weather', OSLO, 0)], [entry('a', 'weather', LIMA, 1)])).toEqual([
      ['a', 'weather', OSLO],
      [generated, 'weather', LIMA],
    ]);
  });

  it('no arguments are an empty object, and null fields are absent', () => {
    const sparse = { index: 1, id: null, function: { name: null, arguments: null } };
    expect(assemble([entry('a', 'ping', '', 0)], [entry('b', 'ping', undefined, 1)], [sparse])).toEqual([
      ['a', 'ping', '{}'],
      ['b', 'ping', '{}'],
    ]);
  });

  it('entries of no shape at all do no harm', () => {
    const assembly = new ToolCallAssembly();
    assembly.take([null, 'x', 7]);
    expect(assembly.finish().every((call) => call.id !== '' && call.arguments === '{}')).toBe(true);
  });
});
