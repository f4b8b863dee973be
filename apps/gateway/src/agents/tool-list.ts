import { foldName } from '@mailroom/contracts';

/**
 * The entries of a `tools` value: a list, or text with commas or blanks between the entries; those inside
 * parentheses do not divide. Entries that differ only in case are one. Undefined when the value is neither.
 */
export function readToolList(value: unknown): string[] | undefined {
  const entries = typeof value === 'string' ? splitEntries(value) : value;
  if (!Array.isArray(entries) || !entries.every((entry) => typeof entry === 'string' && entry.trim() !== ''))
    return undefined;
  const byFold = new Map<string, string>();
  for (const entry of entries as string[]) if (!byFold.has(foldName(entry))) byFold.set(foldName(entry), entry.trim());
  return [...byFold.values()];
}

function splitEntries(text: string): string[] {
  const inner = /^\s*\[(.*)\]\s*$/s.exec(text)?.[1] ?? text;
  return inner.match(/(?:\([^)]*\)|[^\s,(])+/g) ?? [];
}
