import fc from 'fast-check';
import { readArguments } from './argument-reader';

const read = (raw: string) => {
  const result = readArguments(raw);
  return result.ok ? result.value : result.error;
};

describe('arguments of a tool call', () => {
  it.each([
    ['strict JSON', '{"path":"a.txt","lines":[1,-2.5e3,0]}', { path: 'a.txt', lines: [1, -2500, 0] }],
    ['trailing commas', '{"path":"a.txt","lines":[1,2,],}', { path: 'a.txt', lines: [1, 2] }],
    ['single quotes', `{'path': 'it\\'s', "note": "it's"}`, { path: "it's", note: "it's" }],
    ['a fence around the whole', '```json\n{"path":"a.txt"}\n```\n', { path: 'a.txt' }],
    ['a fence with CRLF', '```\r\n{"path":"a.txt"}\r\n```', { path: 'a.txt' }],
    ['double encoding', '"{\\"path\\":\\"a.txt\\",\\"lines\\":[1]}"', { path: 'a.txt', lines: [1] }],
    ['a stray closing tag', '{"path":"a.txt"}</parameter>\n</tool_call>', { path: 'a.txt' }],
    ['words of Python', '{"follow":True,"keep":False,"note":None}', { follow: true, keep: false, note: null }],
    ['raw line ends in a string', '{"text":"one\n\ttwo"}', { text: 'one\n\ttwo' }],
    ['the empty text', '', {}],
    ['blanks only', ' \n', {}],
  ])('%s has one reading', (_name, raw, expected) => {
    expect(read(raw)).toEqual(expected);
  });

  it('a repair leaves string values alone', () => {
    const note = '```json\n{}\n```, ] True </tool_call>';
    expect(read(`{'lines': [1,], "note": ${JSON.stringify(note)}}`)).toEqual({ lines: [1], note });
  });

  it.each([
    ['prose', 'I would like to read a.txt', /expected a value, found "I would lik.*position 0 \(line 1, column 1\)/],
    ['prose round a fence', 'Here:\n```json\n{}\n```', /expected a value/],
    ['a fence that is not closed', '```json\n{"a":1}', /closing ```/],
    ['two objects', '{"path":"a"}{"path":"b"}', /expected the end after the first value.*position 12/],
    ['null', 'null', /one JSON object, but they are null/],
    ['an array', '["a.txt"]', /they are an array/],
    ['a number', '7', /they are a number/],
    ['a string that packs no object', '"a.txt"', /they are a string/],
    ['text packed twice', JSON.stringify(JSON.stringify('{"a":1}')), /they are a string/],
    ['a cut-off string', '{"path":"a.t', /ends inside the string that began at position 8/],
    ['a cut-off object', '{"path":"a.txt"', /expected "," or "}", found the end/],
    ['a second line', '{\n  "a": 1\n  "b": 2\n}', /position 13 \(line 3, column 3\)/],
    ['an apostrophe in single quotes', `{'note': 'it's'}`, /expected "," or "}"/],
    ['a doubled comma', '[1,,2]', /expected a value/],
    ['a lone comma', '{,}', /expected a quoted name/],
    ['a bare name', '{path: "a"}', /expected a quoted name/],
    ['a leading zero', '{"a":01}', /expected "," or "}"/],
    ['an unknown escape', '{"a":"\\x41"}', /unknown escape/],
    ['NaN', '{"a":NaN}', /expected a value/],
  ])('%s is an error with its position, never an empty object', (_name, raw, expected) => {
    expect(read(raw)).toEqual(expect.stringMatching(expected));
  });

  it('a whole number that would lose digits is refused', () => {
    expect(read('{"n":9223372036854775807}')).toMatch(
      /9223372036854775807 is too large to be kept exactly.*position 5/,
    );
    expect(read('{"n":1e999}')).toMatch(/too large/);
    expect(read('{"n":9007199254740991}')).toEqual({ n: 9007199254740991 });
  });

  it('__proto__ stays a plain field and reaches no prototype', () => {
    const value = read('{"a":1,"__proto__":{"admin":true}}') as Record<string, unknown>;
    expect(value.admin).toBeUndefined();
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('R7: nesting of 32 is read, deeper is refused where it is met', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(typeof read(nested(32))).toBe('object');
    expect(read(nested(33))).toMatch(/nesting deeper than 32 at position 36/);
    expect(read(`{"a":${'['.repeat(500_000)}`)).toMatch(/nesting deeper than 32/);
    expect(read(JSON.stringify(nested(33)))).toMatch(/nesting deeper than 32/);
    expect(read(`{"a":"${'['.repeat(40)}"}`)).toEqual({ a: '['.repeat(40) });
  });

  it('reads every JSON object as JSON.parse does', () => {
    const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }));
    fc.assert(
      fc.property(object, fc.constantFrom(0, 2), (value, indent) => {
        const raw = JSON.stringify(value, null, indent);
        fc.pre(!/\d{16}/.test(raw));
        expect(read(raw)).toEqual(JSON.parse(raw));
      }),
    );
  });

  it('never throws, and agrees with JSON.parse wherever that reads an object', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      ',',
      ':',
      '\\',
      'a',
      '1',
      '-',
      '.',
      'e',
      'True',
      'null',
      '```',
      '\n',
      ' ',
      '</x>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const raw = pieces.join('');
        const result = readArguments(raw);
        let strict: unknown;
        try {
          strict = JSON.parse(raw);
        } catch {
          return;
        }
        if (typeof strict !== 'object' || strict === null || Array.isArray(strict)) return;
        expect(result).toEqual({ ok: true, value: strict });
      }),
      { numRuns: 5_000 },
    );
  });
});
