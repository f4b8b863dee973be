/** The last line of every final text, so that nobody takes a scripted answer for an analysis. */
export const SCRIPTED_NOTICE = '(scripted model: no real analysis was made)';

/** The text with the notice as its last line, once. */
export function withNotice(text: string): string {
  return `${withoutNotice(text)}\n\n${SCRIPTED_NOTICE}`;
}

/** The text without the notice: quoted in another text it would stand there many times. */
export function withoutNotice(text: string): string {
  return text.replaceAll(SCRIPTED_NOTICE, '').trim();
}
