import type { AgentMessage } from '@mailroom/contracts';
import type { SessionRecord } from '../session-record';
import type { Check } from './check';

export const ONE_PLACE: Check = {
  id: 'I1',
  fact: 'every accepted message is in exactly one journal, mailbox or dead letter, once',
  find({ sessions, clients, truncated }) {
    const found = sessions.flatMap(misplaced);
    if (truncated) return found;
    const known = new Set(sessions.flatMap(({ ledger }) => [...ledger.keys()]));
    for (const { op, msgId, sessionId } of clients)
      if (op === 'accepted' && msgId !== undefined && !known.has(String(msgId)))
        found.push(`${sessionId}: ${msgId} was accepted and is nowhere`);
    return found;
  },
};

function misplaced(session: SessionRecord): string[] {
  const places = new Map<string, string[]>();
  const put = (id: string, place: string) => places.set(id, [...(places.get(id) ?? []), place]);
  for (const { name, journal, mailbox } of session.agents) {
    for (const entry of journal) if ('ids' in entry) for (const id of entry.ids) put(id, `journal of ${name}`);
    for (const id of mailbox) put(id, `mailbox of ${name}`);
  }
  for (const id of session.dead) put(id, 'dead letters');
  const found: string[] = [];
  for (const [id, { from, to, type }] of session.ledger) {
    const at = places.get(id) ?? [];
    if (at.length !== 1)
      found.push(`${session.id}: ${type} ${id} of ${from} to ${to} is in ${at.join(', ') || 'no place'}`);
  }
  for (const id of places.keys()) if (!session.ledger.has(id)) found.push(`${session.id}: ${id} is in no ledger`);
  for (const { name, journal } of session.agents)
    for (const entry of journal)
      if (entry.kind === 'sent' && entry.code === 'ok' && !session.ledger.has(entry.msgId))
        found.push(`${session.id}: ${name} was told that ${entry.msgId} was sent, and it was not`);
  return found;
}

export const ONE_RESULT: Check = {
  id: 'I2',
  fact: 'every task has exactly one result, and no result is without a task',
  find: ({ sessions }) => sessions.flatMap(wrongResults),
};

function wrongResults(session: SessionRecord): string[] {
  const results = new Map<string, AgentMessage[]>();
  const found: string[] = session.openTasks.map((id) => `${session.id}: the task ${id} is still open`);
  for (const message of session.ledger.values()) {
    if (message.type !== 'result') continue;
    const task = message.inReplyTo ?? '';
    results.set(task, [...(results.get(task) ?? []), message]);
  }
  for (const [id, { type, from, to }] of session.ledger) {
    if (type !== 'task' || from === 'user') continue;
    const all = results.get(id) ?? [];
    const inTime = all.filter(({ late }) => !late);
    if (inTime.length !== 1) found.push(`${session.id}: the task ${id} of ${to} has ${inTime.length} results`);
    if (all.length > 2) found.push(`${session.id}: the task ${id} of ${to} has ${all.length - 1} late results`);
  }
  for (const id of results.keys()) {
    const type = session.ledger.get(id)?.type;
    if (type !== 'task' && type !== 'revision') found.push(`${session.id}: a result answers ${id}, which is no task`);
  }
  return found;
}

export const IN_ORDER: Check = {
  id: 'I3',
  fact: 'a journal has the messages of each sender in the order in which they were sent',
  find: ({ sessions }) => sessions.flatMap(disordered),
};

function disordered(session: SessionRecord): string[] {
  const found: string[] = [];
  for (const { name, journal } of session.agents) {
    const last = new Map<string, number>();
    for (const entry of journal) {
      if (entry.kind !== 'mail') continue;
      for (const id of entry.ids) {
        const message = session.ledger.get(id);
        if (!message) continue;
        if (message.seq <= (last.get(message.from) ?? 0))
          found.push(`${session.id}: ${name} read ${id} of ${message.from} out of order`);
        last.set(message.from, message.seq);
      }
    }
  }
  return found;
}
