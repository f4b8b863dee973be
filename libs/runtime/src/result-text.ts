import { LIMITS } from '@mailroom/contracts';

const CUT = '\n[cut here: the whole text is in the journal]';

/** A result holds at most what a message may hold; the whole stays in the journal (R7). Cut between code points. */
export function cutResult(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= LIMITS.bodyBytes) return text;
  let end = LIMITS.bodyBytes - Buffer.byteLength(CUT);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString('utf8') + CUT;
}
