import type { Check } from './check';
import { isResult } from './transcripts';

/** Tools whose effect may happen twice for one call, under one key. */
const IDEMPOTENT = ['effect_again', 'effect_blocking'];

export const ONE_EFFECT: Check = {
  id: 'I5',
  fact: 'a tool call has one committed result; a tool that must not run twice does not; keys do not change',
  find({ sessions, effects, truncated }) {
    const found: string[] = [];
    const runs = new Map<string, number>();
    const keys = new Map<string, Set<string>>();
    for (const { tool, sessionId, agent, key } of effects) {
      if (!IDEMPOTENT.includes(tool)) count(runs, `${sessionId} ${agent} ${tool} ${key}`);
      const place = `${sessionId} ${agent} ${tool}`;
      keys.set(place, (keys.get(place) ?? new Set()).add(key));
    }
    for (const [call, count] of runs) if (count > 1) found.push(`${call} ran ${count} times`);
    for (const session of sessions)
      for (const { name, journal } of session.agents) {
        const calls = new Map<string, number>();
        for (const entry of journal) {
          if (entry.kind !== 'assistant') continue;
          for (const call of entry.toolCalls) calls.set(call.name, (calls.get(call.name) ?? 0) + 1);
        }
        for (const tool of ['effect_once', ...IDEMPOTENT]) {
          const used = keys.get(`${session.id} ${name} ${tool}`)?.size ?? 0;
          if (used > (calls.get(tool) ?? 0) && !truncated)
            found.push(
              `${session.id}: ${name} asked ${calls.get(tool) ?? 0} times for ${tool}, which saw ${used} keys`,
            );
        }
        const results = journal.flatMap((entry) => (isResult(entry) ? entry.callId : []));
        for (const id of new Set(results.filter((id, i) => results.indexOf(id) !== i)))
          found.push(`${session.id}: the call ${id} of ${name} has more than one result`);
      }
    return found;
  },
};

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
