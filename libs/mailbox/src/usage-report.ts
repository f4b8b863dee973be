import type { SessionUsage, SpaceUsage, UsageGroup, UsageRow } from '@mailroom/contracts';
import { LEAD } from '@mailroom/contracts';
import { Tally, TallyBy, totalsBy, usageTotals } from './usage-totals';

const UNKNOWN = 'unknown';

/** A session's account as people read it. */
export function sessionUsageOf(sessionId: string, rows: readonly UsageRow[]): SessionUsage {
  return {
    sessionId,
    own: usageTotals(rows.filter(({ instance }) => instance === LEAD)),
    tree: usageTotals(rows),
    byAgent: totalsBy(rows, 'agent', ({ agent }) => agent),
    byInstance: [...new Set(rows.map(({ instance }) => instance))].map((instance) => {
      const own = rows.filter((row) => row.instance === instance);
      const { agent = UNKNOWN, parent } = own[0] ?? {};
      const tree = instance === LEAD ? rows : rows.filter((row) => isBelow(row, instance));
      return { instance, agent, ...(parent && { parent }), own: usageTotals(own), tree: usageTotals(tree) };
    }),
    byModel: totalsBy(rows, 'model', ({ model }) => model ?? UNKNOWN),
    byRun: totalsBy(rows, 'runId', ({ runId }) => runId),
  };
}

/** Whether a call was made by the instance or by what it called, over any number of layers. */
function isBelow({ instance, parent }: UsageRow, above: string): boolean {
  for (let at: string | undefined = instance, next = parent; at !== undefined; at = next, next = callerOf(next))
    if (at === above) return true;
  return false;
}

/** The caller that an address tells, for one that made no call itself: `bob#1` of `bob#1/leaf#2`. */
function callerOf(address = ''): string | undefined {
  const slash = address.lastIndexOf('/');
  return slash > 0 ? address.slice(0, slash) : undefined;
}

const KEYS: Record<UsageGroup, (row: UsageRow) => string> = {
  session: ({ sessionId }) => sessionId,
  agent: ({ agent }) => agent,
  model: ({ model }) => model ?? UNKNOWN,
  day: ({ at }) => at.slice(0, 10),
};

/** The rows of a space between two instants (ISO 8601), in groups; none is kept. */
export async function spaceUsageOf(
  batches: AsyncIterable<UsageRow[]>,
  range: { from: string; to: string },
  groupBy: UsageGroup,
): Promise<SpaceUsage> {
  const total = new Tally();
  const groups = new TallyBy('key', KEYS[groupBy]);
  for await (const rows of batches)
    for (const row of rows) {
      total.add(row);
      groups.add(row);
    }
  return { ...range, groupBy, total: total.totals, groups: groups.totals };
}
