import type { SessionRecord } from '../session-record';
import type { Check } from './check';

export const ONE_ROW: Check = {
  id: 'I14',
  fact: 'every answer in a journal has one row in the account, and every row of an answer has its answer',
  find: ({ sessions }) => sessions.flatMap(misbooked),
};

function misbooked({ id, agents, account }: SessionRecord): string[] {
  const found: string[] = [];
  const rows = new Map<string, number>();
  for (const { instance, step, status } of account)
    if (status === 'ok') rows.set(`${instance} ${step}`, (rows.get(`${instance} ${step}`) ?? 0) + 1);
  for (const { name, journal } of agents)
    for (const entry of journal) {
      if (entry.kind !== 'assistant') continue;
      const booked = rows.get(`${name} ${entry.step}`) ?? 0;
      if (booked !== 1) found.push(`${id}: the answer of ${name} at step ${entry.step} has ${booked} rows`);
      rows.delete(`${name} ${entry.step}`);
    }
  for (const call of rows.keys()) found.push(`${id}: the call ${call} has a row and no answer`);
  return found;
}
