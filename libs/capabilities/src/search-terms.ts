const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;
const CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;

/**
 * The terms under which a text is found: words in lower case; Chinese, Japanese and Korean, which have no blanks
 * between words, as pairs of neighbouring letters and the last letter of each run (so that every single letter begins
 * a term).
 */
export function indexTerms(text: string): string[] {
  return termsOf(text, true);
}

/** The terms of a query: as `indexTerms`, but a run of several letters only by its pairs. */
export function queryTerms(text: string): string[] {
  return termsOf(text, false);
}

/** Whether a term is of a script whose words are found by pairs of letters. */
export function isCjkTerm(term: string): boolean {
  return CJK.test(term);
}

function termsOf(text: string, withLast: boolean): string[] {
  const runs = (text.normalize('NFKC').toLowerCase().match(WORD) ?? []).flatMap((word) => word.match(RUN) ?? []);
  return runs.flatMap((run) => {
    if (!isCjkTerm(run)) return [run];
    const letters = [...run];
    const pairs = letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
    return withLast || pairs.length === 0 ? [...pairs, letters.at(-1) ?? ''] : pairs;
  });
}
