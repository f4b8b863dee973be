import { LEAD, type SessionDetail, type Spending } from '@mailroom/contracts';

/** `cost` is absent where the price of a model is not known: unknown is not 0. */
type Spent = Spending & { cost?: number };

const HEAD = ['agent', 'calls', 'tokens in', 'tokens out', 'cost', 'tree: calls', 'tokens in', 'tokens out', 'cost'];

/**
 * What each agent has spent itself, and its tree: itself and all that it called or, for the lead, gave work to; then the
 * whole session. Lines of equal columns; agents that never called a model have none.
 */
export function usageTable({ agents, usage }: Pick<SessionDetail, 'agents' | 'usage'>): string[] {
  const treeOf = ({ id, usage: own }: SessionDetail['agents'][number]): Spent[] => {
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

function cells({ calls, input, output, cost }: Spent): string[] {
  return [
    ...[calls, input, output].map((count) => count.toLocaleString('en')),
    cost === undefined ? '-' : dollars(cost),
  ];
}

function dollars(cost: number): string {
  return `$${cost.toFixed(4)}`;
}

function sum(parts: readonly Spent[]): Spent {
  const spent = parts.filter(({ calls }) => calls > 0);
  const total = (count: (part: Spent) => number) => spent.reduce((all, part) => all + count(part), 0);
  const isPriced = spent.length > 0 && spent.every(({ cost }) => cost !== undefined);
  return {
    calls: total(({ calls }) => calls),
    input: total(({ input }) => input),
    output: total(({ output }) => output),
    ...(isPriced && { cost: total(({ cost = 0 }) => cost) }),
  };
}
