import type { CallRecord, UsageTotals } from '@mailroom/contracts';

const MICRO = 1_000_000;

/** What a model call adds to the sums of session, agent and run, by field; zeros are left out. Costs are micro-dollars. */
export function callSums({ status, input, output, cached, reasoning, cost }: CallRecord): Record<string, number> {
  if (status !== 'ok') return {};
  const sums: Record<string, number> = { used: 1 };
  const micro = toMicro(cost ?? 0);
  if (input) sums.input = input;
  if (output) sums.output = output;
  if (cached) sums.cached = cached;
  if (reasoning) sums.reasoning = reasoning;
  if (micro) sums.micro = micro;
  if (cost === undefined) sums.unpriced = 1;
  return sums;
}

/** Dollars as the whole number that the store adds up. */
export function toMicro(dollars: number): number {
  return Math.round(dollars * MICRO);
}

/** The sums of calls that were answered, as a script has stored them. */
export function readSums(fields: Record<string, string>): Omit<UsageTotals, 'failedCalls' | 'lostCalls'> {
  const read = (field: string) => Number(fields[field] ?? 0);
  return withCost(
    {
      calls: read('used'),
      input: read('input'),
      output: read('output'),
      cached: read('cached'),
      reasoning: read('reasoning'),
      unpricedCalls: read('unpriced'),
    },
    read('micro'),
  );
}

/** Adds the cost, unless no call of the sums has a known one: unknown is not 0. */
export function withCost<T extends { calls: number; unpricedCalls: number }>(
  sums: T,
  micro: number,
): T & { cost?: number } {
  return sums.calls > 0 && sums.unpricedCalls >= sums.calls ? sums : { ...sums, cost: micro / MICRO };
}
