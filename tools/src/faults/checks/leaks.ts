import type { Check } from './check';

/** Keys that belong to the deployment, not to a session. */
const LASTING = [
  /^[^:]+:schema$/,
  /^[^:]+:(definitions|sessions|accounts):/,
  /^[^:]+:definitions-version$/,
  /^[^:]+:due:\{s\d\d\}$/,
  /^\{[^}]+-queues\}:/,
];

const MEGABYTE = 1_048_576;
/** Of one process of the platform. */
const MEMORY = 350 * MEGABYTE;
/** What Redis holds back for one client. */
const OUTPUT_BUFFER = 8 * MEGABYTE;
/** A process that is asked to stop. */
const STOP_MS = 10_000;
/** Entries of a session's event stream; it is trimmed in blocks. */
const STREAM = 11_000;

export const NO_LEAKS: Check = {
  id: 'I7',
  fact: 'after its end nothing of a session stays without an expiry',
  find({ keys, opened }) {
    const found: string[] = [];
    for (const { key, ttl, value } of keys) {
      const isOurs = opened.some((id) => key.includes(id));
      if (ttl < 0 && !LASTING.some((pattern) => pattern.test(key))) {
        if (isOurs || !key.includes('ses_')) found.push(`${key} does not expire`);
      }
      if (key.includes(':due:') && Array.isArray(value))
        for (const member of value) {
          if (opened.some((id) => String(member).startsWith(id))) found.push(`${member} is still due`);
        }
    }
    return found;
  },
};

export const WITHIN_BOUNDS: Check = {
  id: 'I12',
  fact: 'memory, output buffers, event streams and the time to stop stay within their bounds; bad input is refused',
  find({ clients, sessions }) {
    const found: string[] = [];
    for (const { op, proc, process, memory, output, code, ms, what, status, expected } of clients) {
      if (op === 'stopped' && (code !== 0 || Number(ms) > STOP_MS))
        found.push(`${process} was asked to stop and ended with ${code} after ${Math.round(Number(ms))} ms`);
      if (op === 'answered' && !(expected as number[]).includes(Number(status)))
        found.push(`${what} was answered with ${status}`);
      if (op !== 'sample') continue;
      if (Number(memory) > MEMORY) found.push(`${process} had ${Math.round(Number(memory) / MEGABYTE)} MB`);
      if (Number(output) > OUTPUT_BUFFER) found.push(`${proc}: Redis held ${output} bytes back for one client`);
    }
    for (const { id, events } of sessions)
      if (events.length > STREAM) found.push(`${id} has ${events.length} events in its stream`);
    return [...new Set(found)];
  },
};
