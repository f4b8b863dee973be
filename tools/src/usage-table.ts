import { LEAD, type SessionDetail, type Spending } from '@mailroom/contracts';

const HEAD = ['agent', 'calls', 'tokens in', 'tokens out', 'cost', 'tree: calls', 'tokens in', 'tokens out', 'cost'];

/**
 * What each agent has spent itself, and its tree: itself and all that it called or, for the lead, gave work to; then the
 * whole session. Lines of equal columns; agents that never called a model have none.
 */
export function usageTable({ agents, usage }: Pick<SessionDetail, 'agents' | 'usage'>): string[] {
  const treeOf = ({ id, usage: own }: SessionDetail['agents'][number]): Spending[] => {
    const called = agents.filter((agent) => agent.id !== LEAD && (agent.caller ?? LEAD) === id);
    return [own, ...called.flatMap(treeOf)];
  };
  const rows = [
    HEAD,
    ...agents
      .filter((agent) => agent.usage.calls > 0)
      .map((agent) => [agent.id, ...cells(agent.usage), ...cells(sum(treeOf(agent)))]),
    ['all', ...cells(usage), '', '', '', ''],
  ];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  '),
  );
  const rule = '─'.repeat(lines[0]?.length ?? 0);
  return [...lines.slice(0, 1), rule, ...lines.slice(1, -1), rule, ...lines.slice(-1).map((line) => line.trimEnd())];
}

function cells(spent: Spending): string[] {
  const { calls, input, output } = spent;
  return [...[calls, input, output].map((count) => count.toLocaleString('en')), costOf(spent)];
}

/** `≥` where a part of the calls has no price. */
function costOf({ cost, unpricedCalls = 0 }: Spending): string {
  return cost === undefined ? '-' : `${unpricedCalls > 0 ? '≥ ' : ''}$${cost.toFixed(4)}`;
}

function sum(parts: readonly Spending[]): Spending {
  const spent = parts.filter(({ calls }) => calls > 0);
  const total = (count: (part: Spending) => number) => spent.reduce((all, part) => all + count(part), 0);
  const isPriced = spent.some(({ cost }) => cost !== undefined);
  return {
    calls: total(({ calls }) => calls),
    input: total(({ input }) => input),
    output: total(({ output }) => output),
    unpricedCalls: total(({ cost, calls, unpricedCalls = 0 }) => (cost === undefined ? calls : unpricedCalls)),
    ...(isPriced && { cost: total(({ cost = 0 }) => cost) }),
  };
}
