import type { Check } from './check';

export const SURVIVING_PREFIX: Check = {
  id: 'I13',
  fact: 'after Redis lost its latest writes no agent is stuck and no reader has a cursor that leads nowhere',
  find({ sessions, truncated, clients }) {
    if (!truncated) return [];
    const found: string[] = [];
    for (const session of sessions)
      for (const { name, fields } of session.agents)
        if (fields.st !== undefined && fields.st !== 'unloaded') found.push(`${session.id}: ${name} is ${fields.st}`);
    if (!clients.some(({ op, event }) => op === 'event' && event === 'reset'))
      found.push('no reader was told that its events are gone: nothing was truncated');
    return found;
  },
};
