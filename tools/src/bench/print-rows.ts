import type { Row } from './row';

/** One JSON object a line. */
export function printJson(rows: readonly Row[]): void {
  for (const each of rows) console.log(JSON.stringify(each));
}

/** A table for people. */
export function printTable(rows: readonly Row[]): void {
  const cells = rows.map(({ name, value, unit, beside, besideValue, ratio }) => [
    name,
    `${value} ${unit}`,
    beside,
    `${besideValue} ${unit}`,
    `× ${ratio}`,
  ]);
  const lines = [['', 'mailroom', 'beside', '', 'ratio'], ...cells];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    const padded = line.map((cell, i) =>
      i === 0 || i === 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
    );
    console.log(padded.join('  '));
  }
}
