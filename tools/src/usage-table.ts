import type { SessionUsage, UsageTotals } from '@mailroom/contracts';

const HEAD = ['agent', 'calls', 'tokens in', 'tokens out', 'cost', 'tree: calls', 'tokens in', 'tokens out', 'cost'];

/**
 * What each agent has spent itself, and its tree: itself and all that it called or, for the lead, gave work to; then the
 * whole session. Lines of equal columns.
 */
export function usageTable({ byInstance, tree: all }: Pick<SessionUsage, 'byInstance' | 'tree'>): string[] {
  const rows = [
    HEAD,
    ...byInstance.map(({ instance, own, tree }) => [instance, ...cells(own), ...cells(tree)]),
    ['all', ...cells(all), '', '', '', ''],
  ];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  '),
  );
  const rule = '─'.repeat(lines[0]?.length ?? 0);
  return [...lines.slice(0, 1), rule, ...lines.slice(1, -1), rule, ...lines.slice(-1).map((line) => line.trimEnd())];
}

/** `≥` where a part of the calls has no price. */
function cells({ calls, input, output, cost, unpricedCalls }: UsageTotals): string[] {
  const price = cost === undefined ? '-' : `${unpricedCalls > 0 ? '≥ ' : ''}$${cost.toFixed(4)}`;
  return [...[calls, input, output].map((count) => count.toLocaleString('en')), price];
}
