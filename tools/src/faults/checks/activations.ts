import type { Happening } from '../evidence';
import type { SessionRecord } from '../session-record';
import type { Check } from './check';

export const ONE_WRITER: Check = {
  id: 'I4',
  fact: 'of an agent one activation at a time can write; epochs rise; a step is committed once',
  find({ product, sessions, truncated }) {
    const byAgent = new Map<string, Happening[]>();
    for (const happening of product) {
      if (happening.agent === undefined || happening.token === undefined) continue;
      const key = `${happening.sessionId} ${happening.agent}`;
      byAgent.set(key, [...(byAgent.get(key) ?? []), happening]);
    }
    return [
      ...[...byAgent].flatMap(([agent, happenings]) => doubleWriters(agent, happenings, truncated)),
      ...sessions.flatMap(repeatedSteps),
    ];
  },
};

interface Span {
  begin: number;
  end: number;
  token: string;
  epoch: number;
  op: string;
}

/** Calls that succeeded, with both of their times. */
function succeeded(happenings: readonly Happening[], matches: (happening: Happening) => boolean): Span[] {
  const begun = new Map<string, number>();
  const spans: Span[] = [];
  for (const happening of happenings) {
    const { proc, n, t, phase, token = '', epoch = 0, op } = happening;
    const call = `${proc} ${n}`;
    if (phase === 'invoke') begun.set(call, t);
    if (phase === 'ok' && matches(happening)) spans.push({ begin: begun.get(call) ?? t, end: t, token, epoch, op });
  }
  return spans;
}

function doubleWriters(agent: string, happenings: readonly Happening[], truncated: boolean): string[] {
  const claims = succeeded(happenings, ({ op, claimed }) => op === 'claim' && claimed === true);
  const writes = succeeded(happenings, ({ op }) => op.startsWith('commit') || op === 'emit' || op === 'drain');
  const found: string[] = [];
  for (const write of writes) {
    const own = claims.find(({ token }) => token === write.token);
    const next = claims.find(
      ({ token, begin, end }) => token !== write.token && own && begin > own.end && end < write.begin,
    );
    if (next)
      found.push(`${agent}: ${write.op} of epoch ${write.epoch} was accepted after the claim of epoch ${next.epoch}`);
  }
  claims.forEach((claim, i) => {
    const before = claims.slice(0, i).find(({ end, epoch }) => end < claim.begin && epoch >= claim.epoch);
    if (before && !truncated) found.push(`${agent}: epoch ${claim.epoch} was claimed after epoch ${before.epoch}`);
  });
  return found;
}

function repeatedSteps(session: SessionRecord): string[] {
  return session.agents.flatMap(({ name, journal }) => {
    const steps = journal.flatMap((entry) => (entry.kind === 'assistant' ? entry.step : []));
    return steps.every((step, i) => step === i + 1)
      ? []
      : [`${session.id}: the steps of ${name} are ${steps.join(' ')}`];
  });
}
