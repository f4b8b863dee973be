import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPriceFile } from './price-file';

describe('a file of own prices', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'));
  const file = join(folder, 'prices.json');
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is read', () => {
    writeFileSync(file, '{"own/model": {"input": 0.5, "output": 2, "contextWindow": 32000}}');
    expect(readPriceFile(file)).toEqual({ 'own/model': { input: 0.5, output: 2, contextWindow: 32_000 } });
  });

  test.each([
    ['{"own": ', /prices\.json is not JSON/],
    ['[]', /the file: /],
    ['{"own": {"input": "3"}}', /own\.input: .*own\.output: /],
    ['{"own": {"input": -1, "output": 1}}', /own\.input/],
    ['{"own": {"input": 1, "output": 1, "cached": 1}}', /own: .*cached/],
  ])('that says %s is refused with the place', (text, reason) => {
    writeFileSync(file, text);
    expect(() => readPriceFile(file)).toThrow(
      expect.objectContaining({ code: 'misconfigured', message: expect.stringMatching(reason) }),
    );
  });

  test('that is not there is refused', () => {
    expect(() => readPriceFile(join(folder, 'none.json'))).toThrow(/none\.json cannot be read \(ENOENT\)/);
  });
});
