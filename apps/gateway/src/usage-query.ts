import { AppError, USAGE_GROUPS } from '@mailroom/contracts';
import { z } from 'zod';
import { pageQuery } from './paging';

const DAY_MS = 86_400_000;

/** `?rows=true` adds the rows themselves, as pages with `?limit=` and `?cursor=`. */
export const sessionUsageQuery = pageQuery.extend({
  rows: z
    .enum(['true', 'false'], 'has to be true or false')
    .default('false')
    .transform((word) => word === 'true'),
});
export type SessionUsageQuery = z.output<typeof sessionUsageQuery>;

const instant = z.iso
  .datetime({ offset: true, error: 'has to be an instant as 2026-11-30T08:00:00Z' })
  .transform((text) => Date.parse(text));

/** `?from=` (included) and `?to=` (not), instants of ISO 8601, and `?groupBy=`, by default `session`. */
export const spaceUsageQuery = z.object({
  from: instant.optional(),
  to: instant.optional(),
  groupBy: z.enum(USAGE_GROUPS).default('session'),
});
export type SpaceUsageQuery = z.output<typeof spaceUsageQuery>;

/** The range of a query in ms: up to now and 24 hours where it names none. Throws `invalid_request` for an empty one. */
export function rangeOf({ from, to }: SpaceUsageQuery, now: number): { from: number; to: number } {
  const until = to ?? Math.max(now, from ?? 0);
  const since = from ?? until - DAY_MS;
  if (since <= until) return { from: since, to: until };
  throw new AppError('invalid_request', '"from" is after "to"');
}
