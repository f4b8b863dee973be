import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadRules, SHIPPED_RULES } from './load-rules';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rules-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, yaml: string): string {
  const path = join(folder, name);
  writeFileSync(path, yaml);
  return path;
}

test('own rules come before the included ones', () => {
  write('b.yaml', 'rules: [{ name: second, say: b }]');
  const path = write('a.yaml', 'include: [b.yaml]\nrules: [{ name: first, say: a }]');
  expect(loadRules(path).map(({ name }) => name)).toEqual(['first', 'second']);
});

test.each(['default.yaml', 'held-answer.yaml', 'rate-limited.yaml'])(
  'the shipped file %s is valid, its names are unique',
  (file) => {
    const names = loadRules(join(SHIPPED_RULES, '..', file)).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(20);
    expect(new Set(names).size).toBe(names.length);
  },
);

test.each([
  ['an unknown condition', '{ name: x, say: a, when: { rolle: lead } }', /x\.yaml: rule 1 "x": when: .*rolle/],
  [
    'a bad regular expression',
    '{ name: x, say: a, when: { request: "(" } }',
    /rule 1 "x": when\.request: .*regular expression/i,
  ],
  [
    'a pattern of two kinds',
    '{ name: x, say: a, when: { has: [{ got: task, sent: task }] } }',
    /exactly one of got, sent, used, said/,
  ],
  ['no effect', '{ name: x }', /needs one of say, call, status/],
  ['a placeholder that nothing fills', '{ name: x, say: "{{draft.msgId}}" }', /nothing fills \{\{draft\}\}/],
  ['no name', '{ say: a }', /rule 1: name/],
])('%s is an error with file and rule', (_, yaml, error) => {
  expect(() => loadRules(write('x.yaml', `rules: [${yaml}]`))).toThrow(error);
});

test('a missing file, broken YAML and a circle are errors that name the file', () => {
  expect(() => loadRules(join(folder, 'none.yaml'))).toThrow(/none\.yaml: ENOENT/);
  expect(() => loadRules(write('broken.yaml', 'rules: ['))).toThrow(/broken\.yaml: /);
  expect(() => loadRules(write('circle.yaml', 'include: [circle.yaml]'))).toThrow(/includes itself/);
});
