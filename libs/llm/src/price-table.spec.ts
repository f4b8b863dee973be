import { PriceTable } from './price-table';

const usage = { input: 1_000, output: 100, cached: 400 };

describe('R21: what a call costs', () => {
  test('comes from the public prices, cached tokens at their own price', () => {
    const table = new PriceTable();
    expect(table.costOf({ input: 1_000, output: 100 }, 'gpt-4o')).toBe(0.0035);
    expect(table.costOf(usage, 'gpt-4o')).toBe(0.003);
    expect(table.costOf(usage, 'gpt-4o-2024-08-06')).toBe(0.003);
  });

  test('is unknown, and not 0, for a model that nobody knows', () => {
    const table = new PriceTable({}, 'https://api.openai.com/v1');
    expect(table.costOf(usage, 'scripted')).toBeUndefined();
    expect(table.costOf(usage, '')).toBeUndefined();
    expect(table.costOf(usage)).toBeUndefined();
    expect(table.contextWindow('scripted')).toBeUndefined();
  });

  test('is the same when it is asked for again, for known and unknown models', () => {
    const table = new PriceTable();
    for (let n = 0; n < 3; n++) {
      expect(table.costOf(usage, 'gpt-4o')).toBe(0.003);
      expect(table.costOf(usage, 'scripted')).toBeUndefined();
    }
  });

  test('does not depend on whether the endpoint is a known provider', () => {
    for (const url of ['http://127.0.0.1:4010/v1', 'https://api.openai.com/v1', 'https://api.deepseek.com/v1'])
      expect(new PriceTable({}, url).costOf(usage, 'gpt-4o')).toBe(0.003);
  });

  test('is that of the own list, under either name, even where a public price is known', () => {
    const table = new PriceTable({
      'gpt-4o': { input: 10, output: 20, cachedInput: 5 },
      free: { input: 0, output: 0 },
    });
    expect(table.costOf(usage, 'gpt-4o')).toBe(0.01);
    expect(table.costOf(usage, 'gpt-4o-2024-08-06', 'gpt-4o')).toBe(0.01);
    expect(table.costOf(usage, 'free')).toBe(0);
    expect(new PriceTable({ own: { input: 10, output: 20 } }).costOf(usage, 'own')).toBe(0.012);
  });

  test('takes more cached tokens than tokens as all cached', () => {
    expect(new PriceTable().costOf({ input: 100, output: 0, cached: 500 }, 'gpt-4o')).toBe(0.000125);
  });

  test('a window comes from the own list, or is the public one', () => {
    const table = new PriceTable({
      own: { input: 1, output: 1, contextWindow: 16_000 },
      'gpt-4o': { input: 1, output: 1 },
    });
    expect([table.contextWindow('own'), table.contextWindow('gpt-4o')]).toEqual([16_000, 128_000]);
  });
});
