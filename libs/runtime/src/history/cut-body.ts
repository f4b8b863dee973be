import type { AgentMessage } from '@mailroom/contracts';
import { countTokens } from '@mailroom/llm';

/** A text that a prompt shows, and the id under which `read_message` gives it whole. */
export interface Body {
  id: string;
  text: string;
}

/** What was cut, by the entry to which the texts belong: counting is the dear part, and prompts show texts again. */
const cut = new WeakMap<object, { key: string; texts: string[] }>();

/**
 * The texts of one entry, each as far as a prompt may show it: one has a quarter of the window, all together three
 * eighths; short ones leave their room to long ones. A text beyond its share is shown as head and tail with a marker
 * between (R22). No window: all whole.
 */
export function cutBodies(owner: object, bodies: readonly Body[], window: number | undefined): string[] {
  const texts = bodies.map(({ text }) => text);
  if (window === undefined) return texts;
  const bytes = texts.map((text) => Buffer.byteLength(text));
  const most = Math.floor(window / 4);
  // A token is at least one byte.
  if (sum(bytes) <= most) return texts;
  const key = [window, ...bytes].join();
  const known = cut.get(owner);
  if (known?.key === key) return known.texts;
  const shown = cutToShare(bodies, bytes, most, Math.floor((window * 3) / 8));
  cut.set(owner, { key, texts: shown });
  return shown;
}

/** Messages of one entry as a prompt shows them. */
export function cutMessages<M extends Pick<AgentMessage, 'msgId' | 'content' | 'context'>>(
  owner: object,
  messages: readonly M[],
  window: number | undefined,
): M[] {
  const bodies = messages.flatMap(({ msgId, content, context }) => [
    { id: msgId, text: content },
    ...(context === undefined ? [] : [{ id: `${msgId}.context`, text: context }]),
  ]);
  const shown = cutBodies(owner, bodies, window)[Symbol.iterator]();
  const next = () => shown.next().value ?? '';
  return messages.map((message) => ({
    ...message,
    content: next(),
    ...(message.context !== undefined && { context: next() }),
  }));
}

function cutToShare(bodies: readonly Body[], bytes: readonly number[], most: number, total: number): string[] {
  const sizes = bodies.map(({ text }, i) => Math.min(bytes[i] ?? 0, countTokens(text)));
  const share = Math.min(most, shareOf(sizes, total));
  return bodies.map((body, i) => ((sizes[i] ?? 0) <= share ? body.text : headAndTail(body, share)));
}

/** The start of `text` from `at`, in at most `tokens` tokens; at least one character, and no half of one. */
export function startOf(text: string, at: number, tokens: number): string {
  const start = (length: number) => text.slice(at, at + length - (isSplit(text, at + length) ? 1 : 0));
  return within(text.length - at, tokens, start) || text.slice(at, at + 2);
}

function endOf(text: string, tokens: number): string {
  return within(text.length, tokens, (length) => {
    const at = text.length - length;
    return text.slice(at + (isSplit(text, at) ? 1 : 0));
  });
}

/** A text that nobody can read whole: the middle is left out beyond so many tokens. */
export function cutText(text: string, tokens: number): string {
  if (Buffer.byteLength(text) <= tokens || countTokens(text) <= tokens) return text;
  const half = Math.max(1, Math.floor(tokens / 2) - 10);
  return `${startOf(text, 0, half)}\n[cut here]\n${endOf(text, half)}`;
}

function headAndTail({ id, text }: Body, tokens: number): string {
  const room = tokens - MARKER_TOKENS;
  const head = startOf(text, 0, Math.max(1, Math.floor((room * 2) / 3)));
  const tail = endOf(text, Math.max(0, Math.floor(room / 3)));
  const left = text.length - head.length - tail.length;
  if (left <= 0) return text;
  const call = JSON.stringify({ id, offset: head.length });
  return `${head}\n[cut here: ${left} characters are not shown; read_message ${call} gives them]\n${tail}`;
}

const MARKER_TOKENS = 60;

/** The longest piece that was found within the tokens, by halving towards it; pieces get shorter with `length`. */
function within(all: number, tokens: number, piece: (length: number) => string): string {
  let length = Math.min(all, tokens * 6);
  while (length > 0) {
    const found = piece(length);
    const size = countTokens(found);
    if (size <= tokens) return found;
    length = Math.floor(length * Math.min(0.95, (tokens / size) * 1.02));
  }
  return '';
}

function shareOf(sizes: readonly number[], total: number): number {
  let rest = total;
  const ascending = [...sizes].sort((a, b) => a - b);
  for (const [i, size] of ascending.entries()) {
    const share = Math.floor(rest / (ascending.length - i));
    if (size > share) return share;
    rest -= size;
  }
  return total;
}

/** Whether a cut before `at` parts the two halves of one character. */
function isSplit(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
