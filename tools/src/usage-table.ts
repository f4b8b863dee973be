import type { SessionDetail } from '@mailroom/contracts';

/** Model calls and tokens of every agent and of the whole session, as lines of equal columns. */
export function usageTable({ agents, usage }: Pick<SessionDetail, 'agents' | 'usage'>): string[] {
  const rows = [
    ['agent', 'model calls', 'tokens in', 'tokens out'],
    ...agents.map((agent) => row(agent.id, agent.usage)),
    row('all', usage),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  '),
  );
  const rule = '─'.repeat(lines[0]?.length ?? 0);
  return [...lines.slice(0, 1), rule, ...lines.slice(1, -1), rule, ...lines.slice(-1)];
}

function row(id: string, usage: { calls: number; input: number; output: number }): string[] {
  return [id, ...[usage.calls, usage.input, usage.output].map((count) => count.toLocaleString('en'))];
}
