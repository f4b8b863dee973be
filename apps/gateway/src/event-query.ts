import { EVENT_CODES, type EventCode, foldName, type SessionEvent } from '@mailroom/contracts';
import { z } from 'zod';
import { logLimit } from './paging';

/** A place in an event stream: the `id` of an event; empty and `0-0` are the beginning. */
export const cursor = z
  .string()
  .regex(/^(\d{1,15}-\d{1,15})?$/, 'has to be the id of an event')
  .transform((id) => (id === '0-0' ? '' : id));

const words = z.string().transform((list) =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean),
);

/** `?after=` an event id, `?types=` event codes, `?agents=` agent names; lists are separated by commas. */
export const eventQuery = z.object({
  after: cursor.default(''),
  types: words.pipe(z.array(z.enum(EVENT_CODES))).optional(),
  agents: words.optional(),
});
export type EventQuery = z.output<typeof eventQuery>;

/** As `eventQuery`, with `?limit=`. */
export const logQuery = eventQuery.extend({ limit: logLimit });
export type LogQuery = z.output<typeof logQuery>;

/** Which events a query asks for; a `reset` is for everybody. */
export function eventFilter({ types, agents }: EventQuery): (event: SessionEvent) => boolean {
  const codes = types && new Set<EventCode>(types);
  const names = agents && new Set(agents.map(foldName));
  return ({ event, agentId }) =>
    event === 'reset' || ((codes?.has(event) ?? true) && (names?.has(foldName(agentId ?? '')) ?? true));
}
