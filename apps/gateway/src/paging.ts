import { z } from 'zod';

const limit = (max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `has to be a whole number from 1 to ${max}`)
    .transform(Number)
    .pipe(
      z
        .number()
        .min(1, `has to be a whole number from 1 to ${max}`)
        .max(max, `has to be a whole number from 1 to ${max}`),
    );

/** `?limit=` (default 50, at most 200) and `?cursor=`, the `next` of the page before. */
export const pageQuery = z.object({
  limit: limit(200).default(50),
  cursor: z
    .string()
    .regex(/^\d{1,9}$/, 'is not a cursor of this list')
    .transform(Number)
    .default(0),
});
export type PageQuery = z.output<typeof pageQuery>;

/** A page of a list that is read by position: one entry more than asked for tells whether there is a next page. */
export async function pageOf<T>(
  { limit, cursor }: PageQuery,
  read: (offset: number, count: number) => Promise<T[]>,
): Promise<{ items: T[]; next?: string }> {
  const found = await read(cursor, limit + 1);
  const items = found.slice(0, limit);
  return found.length > limit ? { items, next: String(cursor + limit) } : { items };
}

/** `?limit=` of an event log: default 200, at most 1,000. */
export const logLimit = limit(1_000).default(200);

/** `?wait=`: seconds to wait for the end of the run. */
export const waitQuery = z.object({
  wait: z
    .string()
    .regex(/^\d{1,3}$/, 'has to be a whole number of seconds from 1 to 120')
    .transform((seconds) => Number(seconds) * 1_000)
    .pipe(
      z
        .number()
        .min(1_000, 'has to be a whole number of seconds from 1 to 120')
        .max(120_000, 'has to be a whole number of seconds from 1 to 120'),
    )
    .optional(),
});
export type WaitQuery = z.output<typeof waitQuery>;
