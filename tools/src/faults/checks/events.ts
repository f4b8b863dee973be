import type { Happening } from '../evidence';
import type { SessionRecord } from '../session-record';
import type { Check } from './check';

export const EVENTS_ONCE: Check = {
  id: 'I6',
  fact: 'a run ends with one event; a reader gets every event once and in order, or is told that it cannot',
  find({ sessions, clients }) {
    const read = new Map<string, Happening[]>();
    for (const happening of clients)
      if (happening.op === 'event' && happening.sessionId)
        read.set(happening.sessionId, [...(read.get(happening.sessionId) ?? []), happening]);
    return sessions.flatMap((session) => [...wrongEnds(session), ...wrongReading(session, read.get(session.id) ?? [])]);
  },
};

function wrongEnds(session: SessionRecord): string[] {
  return [...session.runs.keys()].flatMap((run) => {
    const ends = session.events.filter(({ code, run: of }) => code === 'done' && of === run);
    return ends.length === 1 ? [] : [`${session.id}: the run ${run} has ${ends.length} final events`];
  });
}

/** What was read since the last `reset` has to be the beginning of the stream. */
function wrongReading(session: SessionRecord, read: readonly Happening[]): string[] {
  const since = read.slice(read.findLastIndex(({ event }) => event === 'reset') + 1);
  const at = since.findIndex(({ id }, i) => id !== session.events[i]?.id);
  if (at < 0) return [];
  return [
    `${session.id}: event ${at} of ${since.length} was ${since[at]?.id}, the stream has ${session.events[at]?.id ?? 'no more'}`,
  ];
}

export const RUNS_ANSWERED: Check = {
  id: 'I11',
  fact: 'what a gateway accepted is answered, whatever happens to that gateway',
  find({ sessions, clients, opened, lenient }) {
    const found = opened
      .filter((id) => !sessions.some((session) => session.id === id))
      .map((id) => `${id} was accepted and is not there`);
    for (const { op, sessionId, runId } of clients) {
      if (op !== 'accepted') continue;
      const run = sessions.find(({ id }) => id === sessionId)?.runs.get(String(runId));
      if (!run) found.push(`${sessionId}: the run ${runId} was accepted and is not there`);
      else if (run.status !== 'completed' && !lenient)
        found.push(`${sessionId}: the run ${runId} ended as ${run.status} ${run.reason ?? ''}`);
    }
    return found;
  },
};

export const RUNS_END: Check = {
  id: 'I8',
  fact: 'after the faults every run ends in time, and no activation is swallowed by the queue',
  find({ clients, product, isOrderly }) {
    const done = new Set(clients.flatMap(({ op, event, runId }) => (op === 'event' && event === 'done' ? runId : [])));
    const swallowed = isOrderly ? unclaimed(product) : [];
    const unheard = clients
      .filter(({ op, runId }) => op === 'accepted' && !done.has(runId))
      .map(({ sessionId, runId }) => `${sessionId}: nobody heard of an end of ${runId}`);
    return [...swallowed, ...unheard];
  },
};

function unclaimed(product: readonly Happening[]): string[] {
  const nameOf = ({ sessionId, agent, epoch }: Happening) => `${sessionId}: ${agent}, epoch ${epoch}`;
  const claimed = new Set(product.filter(({ op }) => op === 'claim').map(nameOf));
  return product
    .filter(({ op, phase }) => op === 'enqueue' && phase === 'ok')
    .map(nameOf)
    .filter((name) => !claimed.has(name))
    .map((name) => `${name}, was put into the queue and never begun`);
}
