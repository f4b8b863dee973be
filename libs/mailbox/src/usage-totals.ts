import type { UsageRow, UsageTotals } from '@mailroom/contracts';
import { toMicro, withCost } from './call-sums';

/** Adds up what rows of an account come to. */
export class Tally {
  private readonly sums = {
    calls: 0,
    input: 0,
    output: 0,
    cached: 0,
    reasoning: 0,
    unpricedCalls: 0,
    failedCalls: 0,
    lostCalls: 0,
  };
  private micro = 0;

  add({ status, input = 0, output = 0, cached = 0, reasoning = 0, cost }: UsageRow): void {
    const { sums } = this;
    if (status === 'failed') sums.failedCalls++;
    else if (status === 'lost') sums.lostCalls++;
    else {
      sums.calls++;
      sums.input += input;
      sums.output += output;
      sums.cached += cached;
      sums.reasoning += reasoning;
      if (cost === undefined) sums.unpricedCalls++;
      else this.micro += toMicro(cost);
    }
  }

  get totals(): UsageTotals {
    return withCost({ ...this.sums }, this.micro);
  }
}

/** The totals of rows with the same key, in the order in which the keys first came. */
export class TallyBy<K extends string> {
  private readonly tallies = new Map<string, Tally>();

  /** `name`: the field in which the totals have their key. */
  constructor(
    private readonly name: K,
    private readonly keyOf: (row: UsageRow) => string,
  ) {}

  add(row: UsageRow): void {
    const key = this.keyOf(row);
    const tally = this.tallies.get(key) ?? new Tally();
    this.tallies.set(key, tally);
    tally.add(row);
  }

  get totals(): (UsageTotals & Record<K, string>)[] {
    return [...this.tallies].map(
      ([key, { totals }]) => ({ [this.name]: key, ...totals }) as UsageTotals & Record<K, string>,
    );
  }
}

/** What rows of an account come to. */
export function usageTotals(rows: Iterable<UsageRow>): UsageTotals {
  const tally = new Tally();
  for (const row of rows) tally.add(row);
  return tally.totals;
}

/** The totals of the rows with the same key. */
export function totalsBy<K extends string>(
  rows: Iterable<UsageRow>,
  name: K,
  keyOf: (row: UsageRow) => string,
): (UsageTotals & Record<K, string>)[] {
  const tally = new TallyBy(name, keyOf);
  for (const row of rows) tally.add(row);
  return tally.totals;
}
