import type { BenchStand } from './bench-stand';

/** One figure of the product, and the same figure of something well known, measured in the same run. */
export interface Row {
  name: string;
  value: number;
  unit: string;
  /** What it is compared with … */
  beside: string;
  besideValue: number;
  /** … and how many times that it is: the number that counts, since it hardly depends on the machine. */
  ratio: number;
}

/** One file of this folder: sets up what it needs on the stand, measures, cleans up, and gives its rows. */
export type Measurement = (stand: BenchStand) => Promise<Row[]>;

/** A row from two figures in the same unit. */
export function row(name: string, unit: string, value: number, beside: { name: string; value: number }): Row {
  const ratio = value / beside.value;
  return {
    name,
    value: round(value),
    unit,
    beside: beside.name,
    besideValue: round(beside.value),
    ratio: round(ratio),
  };
}

/** Two rows, `<name>-p50` and `<name>-p99`, from two lists of samples in ms. */
export function percentileRows(name: string, samples: readonly number[], beside: Samples): Row[] {
  return [50, 99].map((percent) =>
    row(`${name}-p${percent}`, 'ms', percentile(samples, percent), {
      name: beside.name,
      value: percentile(beside.samples, percent),
    }),
  );
}

/** Samples and what they are of. */
export interface Samples {
  name: string;
  samples: readonly number[];
}

/** The smallest sample that is not below `percent` per cent of all. Throws when there is none. */
export function percentile(samples: readonly number[], percent: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
  if (found === undefined) throw new Error('there are no samples');
  return found;
}

/** Three digits that mean something. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}
