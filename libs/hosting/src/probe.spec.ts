import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@mailroom/contracts';
import { Failpoint } from './failpoint';
import { type Actions, Probe } from './probe';

interface Port {
  double(value: number): Promise<number>;
  other(): string;
}

class RealPort implements Port {
  private readonly factor = 2;

  async double(value: number): Promise<number> {
    if (value < 0) throw new AppError('invalid_request', 'too small');
    return value * this.factor;
  }

  other(): string {
    return `factor ${this.factor}`;
  }
}

const actions: Actions<Port> = {
  double: (value) => ({ op: 'double', facts: { agent: 'alice', value }, told: (result) => ({ result }) }),
};

const folder = mkdtempSync(join(tmpdir(), 'mailroom-probe-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('without settings the port itself is used', () => {
  const port = new RealPort();
  expect(new Probe({}, 'host').watch<Port>(port, actions)).toBe(port);
});

test('a history has the beginning and the outcome of each watched action, and nothing of the others', async () => {
  const historyFile = join(folder, 'history.jsonl');
  const port = new Probe({ historyFile }, 'worker-1').watch<Port>(new RealPort(), actions);
  expect([await port.double(4), port.other()]).toEqual([8, 'factor 2']);
  await expect(port.double(-1)).rejects.toThrow('too small');
  const lines = readFileSync(historyFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { proc: 'worker-1', op: 'double', phase: 'invoke', n: 1, value: 4 },
    { op: 'double', phase: 'ok', n: 1, value: 4, result: 8 },
    { op: 'double', phase: 'invoke', n: 2, value: -1 },
    { op: 'double', phase: 'fail', n: 2, value: -1, code: 'invalid_request' },
  ]);
  expect(lines[1].t).toBeGreaterThanOrEqual(lines[0].t);
});

test.each(['', 'commit', 'during:commit', 'after:commit#0', 'after:'])('"%s" is no failpoint', (text) => {
  expect(() => Failpoint.parse(text)).toThrow('FAILPOINT is written');
});

test('a failpoint lets everything pass that it does not name', () => {
  const point = Failpoint.parse('after:commit.answer@alice#2');
  point.pass('before', 'commit.answer', 'alice');
  point.pass('after', 'commit.tool', 'alice');
  point.pass('after', 'commit.answer', 'bob');
  point.pass('after', 'commit.answer', 'alice');
  expect(point).toBeInstanceOf(Failpoint);
});
