import type { UsageRow, UsageTotals } from '@mailroom/contracts';
import { toMicro, withCost } from './call-sums';

/** What rows of an account come to. */
export function usageTotals(rows: Iterable<UsageRow>): UsageTotals {
  const sums = {
    calls: 0,
    input: 0,
    output: 0,
    cached: 0,
    reasoning: 0,
    unpricedCalls: 0,
    failedCalls: 0,
    lostCalls: 0,
  };
  let micro = 0;
  for (const { status, input = 0, output = 0, cached = 0, reasoning = 0, cost } of rows) {
    if (status === 'failed') sums.failedCalls++;
    else if (status === 'lost') sums.lostCalls++;
    else {
      sums.calls++;
      sums.input += input;
      sums.output += output;
      sums.cached += cached;
      sums.reasoning += reasoning;
      if (cost === undefined) sums.unpricedCalls++;
      else micro += toMicro(cost);
    }
  }
  return withCost(sums, micro);
}

/** The totals of the rows with the same key, in the order in which the keys first came. */
export function totalsBy<K extends string>(
  rows: readonly UsageRow[],
  name: K,
  keyOf: (row: UsageRow) => string,
): (UsageTotals & Record<K, string>)[] {
  return [...groupRows(rows, keyOf)].map(
    ([key, group]) => ({ [name]: key, ...usageTotals(group) }) as UsageTotals & Record<K, string>,
  );
}

export function groupRows(rows: readonly UsageRow[], keyOf: (row: UsageRow) => string): Map<string, UsageRow[]> {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}
