import { percentileRows, row } from './row';

describe('a row', () => {
  it('holds both figures and how many times the one is the other, in three digits', () => {
    expect(row('hop', 'ms', 1.23456, { name: 'floor', value: 0.5 })).toEqual({
      name: 'hop',
      value: 1.23,
      unit: 'ms',
      beside: 'floor',
      besideValue: 0.5,
      ratio: 2.47,
    });
  });

  it('of a percentile is a sample that was taken, whatever the order of the samples', () => {
    const samples = Array.from({ length: 200 }, (_, i) => 200 - i);
    const beside = { name: 'floor', samples: [4, 1, 2, 3] };
    expect(percentileRows('hop', samples, beside)).toEqual([
      { name: 'hop-p50', value: 100, unit: 'ms', beside: 'floor', besideValue: 2, ratio: 50 },
      { name: 'hop-p99', value: 198, unit: 'ms', beside: 'floor', besideValue: 4, ratio: 49.5 },
    ]);
  });

  it('of no samples is refused', () => {
    expect(() => percentileRows('hop', [], { name: 'floor', samples: [1] })).toThrow('there are no samples');
  });
});
