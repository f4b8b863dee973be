import { z } from 'zod';

/** Addresses that no definition may take. */
export const RESERVED_ADDRESSES = ['lead', 'user', 'system'] as const;

/** The lead's address in every session. */
export const LEAD = 'lead';

const NAME = /^[\p{L}\p{M}\p{N}_.-](?:[\p{L}\p{M}\p{N}_. -]*[\p{L}\p{M}\p{N}_.-])?$/u;

/** The form in which names are compared: trimmed, NFC, case-folded. */
export function foldName(name: string): string {
  return name.trim().normalize('NFC').toLowerCase();
}

/**
 * The name of an agent or of an instance in a session: letters and digits of any script, `_ - .` and inner spaces,
 * up to 64 characters. Parsing trims and composes (NFC) it; reserved addresses are refused.
 */
export const agentName = z
  .string()
  .transform((name) => name.trim().normalize('NFC'))
  .pipe(
    z
      .string()
      .min(1, 'a name is needed')
      .max(64, 'a name has at most 64 characters')
      .regex(NAME, 'a name has letters and digits of any script, "_", "-", "." and inner spaces')
      .refine(
        (name) => !(RESERVED_ADDRESSES as readonly string[]).includes(foldName(name)),
        `${RESERVED_ADDRESSES.join(', ')} are reserved addresses`,
      ),
  );

/** Of `names`, the one closest to what was asked for, or undefined when none is near. */
export function nearestName(asked: string, names: readonly string[]): string | undefined {
  const key = squeeze(asked);
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(key.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(key, squeeze(name));
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** The way out for who asked for a name that is not among `names`: the closest one, else all of them. */
export function wayOut(asked: string, names: readonly string[]): string {
  const near = nearestName(asked, names);
  return near === undefined ? `there are ${names.join(', ') || 'none'}` : `did you mean "${near}"?`;
}

/** Separators are what models mistake most often: `team_lead` for `team-lead`. */
function squeeze(name: string): string {
  return foldName(name).replace(/[_. -]/g, '');
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
