import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { SCRIPTS } from './scripts.generated';

const LUA = path.join(__dirname, 'lua');
const BUILD = path.join(__dirname, '..', 'build-lua.mjs');

const commands = readdirSync(LUA)
  .filter((file) => file.endsWith('.lua'))
  .map((file) => ({ name: file.slice(0, -4), source: readFileSync(path.join(LUA, file), 'utf8') }));
const fragments = new Map(
  readdirSync(path.join(LUA, 'include')).map((file) => [
    file.slice(0, -4),
    readFileSync(path.join(LUA, 'include', file), 'utf8'),
  ]),
);

const headerOf = (source: string) =>
  source
    .split('\n')
    .slice(1)
    .filter((_, i, lines) => lines.slice(0, i + 1).every((before) => before.startsWith('--')))
    .filter((line) => !line.startsWith('-- @include'))
    .join('\n');
const withoutComments = (source: string) => source.replace(/--.*$/gm, '');
const includesOf = (source: string) => [...source.matchAll(/^-- @include (\S+)$/gm)].map((match) => match[1] ?? '');
/** The command's own code and the fragments that it includes. */
const codeOf = (source: string) =>
  withoutComments([...includesOf(source).map((name) => fragments.get(name) ?? ''), source].join('\n'));
const indexes = (text: string, table: 'KEYS' | 'ARGV') =>
  [...new Set([...text.matchAll(new RegExp(`${table}\\[(\\d+)\\]`, 'g'))].map((match) => Number(match[1])))].sort(
    (a, b) => a - b,
  );
/** Indexes from which on all are meant: `ARGV[7…]` in a header, loops and counters over ARGV in code. */
const openEnds = (header: string) => [...header.matchAll(/ARGV\[(\d+)…\]/g)].map((match) => Number(match[1]));
const loopStarts = (code: string) => [
  ...[...code.matchAll(/for i = (\d+), #ARGV/g)].map((match) => Number(match[1])),
  ...[...code.matchAll(/local at = (\d+)\n[\s\S]*ARGV\[at\]/g)].map((match) => Number(match[1]) + 1),
];

describe.each(commands)('the command $name', ({ name, source }) => {
  const header = headerOf(source);
  const code = codeOf(source);

  test('starts with the flags that Redis reads', () => {
    expect(source).toMatch(/^#!lua( flags=[a-z-]+(,[a-z-]+)*)?\n-- \S/);
  });

  test('names in its header the keys that it uses, and no other', () => {
    expect(indexes(header, 'KEYS')).toEqual(indexes(code, 'KEYS'));
  });

  test('names in its header the arguments that it uses, and no other', () => {
    expect(indexes(header, 'ARGV')).toEqual(indexes(code, 'ARGV'));
    expect(openEnds(header)).toEqual(loopStarts(withoutComments(source)));
  });

  test('describes its reply', () => {
    expect(header).toMatch(/^-- Replies \S/m);
  });

  test('includes only fragments that exist, each once', () => {
    const included = includesOf(source);
    expect(included.filter((fragment) => !fragments.has(fragment))).toEqual([]);
    expect(new Set(included).size).toBe(included.length);
    expect(SCRIPTS[name as keyof typeof SCRIPTS]).not.toContain('@include');
  });
});

test('no fragment is left over', () => {
  const used = new Set(commands.flatMap(({ source }) => includesOf(source)));
  expect([...fragments.keys()].filter((fragment) => !used.has(fragment))).toEqual([]);
});

test('the generated module is what a build makes of the Lua files', () => {
  const print = `import('${BUILD}').then((build) => process.stdout.write(build.renderScripts()))`;
  const rendered = execFileSync(process.execPath, ['--input-type=module', '-e', print], { encoding: 'utf8' });
  expect(readFileSync(path.join(__dirname, 'scripts.generated.ts'), 'utf8')).toBe(rendered);
});
