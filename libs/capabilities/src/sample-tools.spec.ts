import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@mailroom/contracts';
import { createCurrentTime } from './current-time';
import { createLookup } from './lookup';
import { sampleTools } from './sample-tools';
import type { Tool, ToolContext } from './tool';
import { executeTool } from './tool-execution';
import { ToolRegistry } from './tool-registry';

const context: ToolContext = {
  sessionId: 's',
  agent: 'alice',
  idempotencyKey: 'k',
  signal: new AbortController().signal,
};
const call = (tool: Tool | undefined, args: object) => executeTool(tool as Tool, JSON.stringify(args), context);

describe('the sample tools', () => {
  it('are legal for a registry and idempotent; without documents there is no lookup', () => {
    const tools = sampleTools();
    expect(new ToolRegistry(tools).names()).toEqual(['current_time', 'calculate']);
    expect(tools.every(({ idempotent }) => idempotent)).toBe(true);
  });
});

describe('current_time', () => {
  const tool = createCurrentTime(() => new Date('2026-07-01T22:30:05Z')) as Tool;

  it.each([
    [{}, '2026-07-01T22:30:05+00:00 (Wednesday, UTC)'],
    [{ timezone: 'Asia/Shanghai' }, '2026-07-02T06:30:05+08:00 (Thursday, Asia/Shanghai)'],
    [{ timezone: 'Asia/Kolkata' }, '2026-07-02T04:00:05+05:30 (Thursday, Asia/Kolkata)'],
    [{ timezone: 'America/New_York' }, '2026-07-01T18:30:05-04:00 (Wednesday, America/New_York)'],
  ])('tells date, time and weekday for %p', async (args, content) => {
    expect(await call(tool, args)).toEqual({ content, error: false });
  });

  it('names the way out for a time zone that does not exist', async () => {
    const { content, error } = await call(tool, { timezone: 'Mars/Olympus' });
    expect(error).toBe(true);
    expect(content).toContain('there is no time zone "Mars/Olympus"; use an IANA name');
  });
});

describe('calculate', () => {
  const tool = new ToolRegistry(sampleTools()).get('calculate');

  it.each([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['10 - 4 - 3', '3'],
    ['7 % 4 * 2', '6'],
    ['2^3^2', '512'],
    ['-2^2', '-4'],
    ['2^-1', '0.5'],
    ['--3', '3'],
    ['0.1 + 0.2', '0.3'],
    ['1.5e3 / .5', '3000'],
    ['sqrt(2) ^ 2', '2'],
    ['ABS(-3) + max(1, 7, 3) - min(4, 2)', '8'],
    ['round(2.5) + round(-2.5)', '0'],
    ['round(1.005, 2)', '1.01'],
    ['round(1234.5, -2)', '1200'],
    ['9007199254740991', '9007199254740991'],
    ['2^64', 'about 18446744073709552000'],
    ['9007199254740993 - 9007199254740992', 'about 0'],
  ])('%s is %s', async (expression, content) => {
    expect(await call(tool, { expression })).toEqual({ content, error: false });
  });

  it.each([
    ['1 +', 'expected a number, found the end at position 4'],
    ['1 + * 2', 'expected a number, found "*" at position 5'],
    ['2 x 3', 'expected an operator or the end, found "x" at position 3'],
    ['1,000 + 1', 'expected an operator or the end, found "," at position 2'],
    ['(1 + 2', 'this "(" is never closed at position 1'],
    ['1 + 2)', 'expected an operator or the end, found ")" at position 6'],
    ['4 / (2 - 2)', 'division by zero at position 3'],
    ['5 % 0', 'division by zero at position 3'],
    ['sqrt(-1)', 'this has no finite real value at position 1'],
    ['10 ^ 999', 'this has no finite real value at position 4'],
    ['1e999', 'this has no finite real value at position 1'],
    ['sin(1)', '"sin" is unknown; there are sqrt, abs, round, min, max at position 1'],
    ['process.exit()', '"process" is unknown'],
    ['constructor(1)', '"constructor" is unknown'],
    ['sqrt 4', 'expected "(" after sqrt, found "4" at position 6'],
    ['sqrt(1, 2)', 'expected ")", found "," at position 7'],
    ['max()', 'expected a number, found ")" at position 5'],
    ['('.repeat(900), 'nesting deeper than 100'],
    ['-'.repeat(900), 'nesting deeper than 100'],
  ])('%s is an error with its place', async (expression, problem) => {
    const { content, error } = await call(tool, { expression });
    expect(error).toBe(true);
    expect(content).toContain(problem);
  });
});

describe('lookup', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lookup-'));
    mkdirSync(join(folder, 'finance'));
    writeFileSync(
      join(folder, 'finance', 'q2.md'),
      '\uFEFF# Second quarter\r\n\r\n## Revenue\r\n\r\nRevenue grew by 12 percent to 4.2 million.\r\n\r\n## Costs\r\n\r\n```\r\n# no heading\r\n```\r\nHosting was the largest item.\r\n',
    );
    writeFileSync(join(folder, 'tides.txt'), 'The harbour is deepest at noon.\n\nShips wait for the flood.');
    writeFileSync(
      join(folder, 'zh.md'),
      '# 第二季度\n\n营业收入同比增长百分之十二。\n\n# 员工\n\n公司有三百名员工，都在上海。',
    );
    writeFileSync(join(folder, 'ja.md'), 'データベースの移行は八月に終わる。');
    writeFileSync(join(folder, 'data.json'), '{"revenue": "not a document"}');
    writeFileSync(join(folder, '.draft.md'), 'revenue draft');
    symlinkSync(join(folder, 'tides.txt'), join(folder, 'linked.txt'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const firstLine = async (query: string) =>
    (await call(createLookup(folder) as Tool, { query })).content.split('\n')[0];

  it.each([
    ['revenue growth', 'finance/q2.md › Second quarter › Revenue'],
    ['hosting costs', 'finance/q2.md › Second quarter › Costs'],
    ['hostin', 'finance/q2.md › Second quarter › Costs'],
    ['营业收入增长了多少', 'zh.md › 第二季度'],
    ['上海', 'zh.md › 员工'],
    ['员工人数', 'zh.md › 员工'],
    ['海', 'zh.md › 员工'],
    ['データベース', 'ja.md'],
  ])('finds for %s the passage of %s first', async (query, place) => {
    expect(await firstLine(query)).toMatch(new RegExp(`^1\\. ${place.replace('.', '\\.')} \\(score \\d+\\.\\d\\d\\)$`));
  });

  it('answers with three passages at most, each with its source and its text', async () => {
    const { content } = await call(createLookup(folder) as Tool, { query: 'revenue harbour ships hosting 员工' });
    expect(content.match(/^\d\. /gm)).toEqual(['1. ', '2. ', '3. ']);
    expect(await call(createLookup(folder) as Tool, { query: 'deepest' })).toEqual({
      content: expect.stringMatching(
        /^1\. (?:linked|tides)\.txt \(score [\d.]+\)\nThe harbour is deepest at noon\.\n\nShips wait/,
      ),
      error: false,
    });
  });

  it('says what was searched when nothing is found', async () => {
    const { content, error } = await call(createLookup(folder) as Tool, { query: 'zeppelin' });
    expect(error).toBe(false);
    expect(content).toBe(
      'nothing found for "zeppelin" in the documents finance/q2.md, ja.md, linked.txt, tides.txt, zh.md; try other words',
    );
  });

  it('is refused at construction when the folder is missing', () => {
    const missing = join(folder, 'missing');
    expect(() => createLookup(missing)).toThrow(AppError);
    expect(() => sampleTools({ documentsDir: missing })).toThrow(
      `the documents folder "${missing}" cannot be read (ENOENT)`,
    );
  });
});
