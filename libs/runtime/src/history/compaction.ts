import type { Inbox } from '@mailroom/mailbox';
import type { Memory } from '../memory';
import { countAround, type Frame, limitOf, tokensPerToken } from './context-window';
import { type Block, blocksFrom, weigh } from './history-blocks';
import { openMessages } from './open-messages';
import { shownSummary } from './summary-block';

/** The oldest part of what is shown, to be replaced by a summary (R22). */
export interface Compaction {
  kind: 'compact';
  /** Index of the first entry that stays whole; never between a call and its results. */
  upTo: number;
  /** Messages before it that stay whole. */
  kept: string[];
  window: number;
}

/** Into a smaller window, in tokens, no summary call fits. */
const SMALLEST_WINDOW = 2_000;
/** What is aimed at, as a share of the window: the whole prompt · the newest part, however long the rest is. */
const AIM = 0.45;
const NEWEST = 0.125;
/** A summary has at most this share of the window. */
const SUMMARY = 0.125;

/** Tokens that a summary may have. */
export function summaryRoom(window: number): number {
  return Math.floor(window * SUMMARY);
}

/** Whether a summary can be asked for at all; else the history is left out at once. */
export function canSummarise(window: number): boolean {
  return window >= SMALLEST_WINDOW;
}

/** Tokens of history that one summary call is given, its instructions not counted. */
export function regionRoom(window: number): number {
  return limitOf(window) - summaryRoom(window) - 500;
}

/**
 * Chooses what goes when a history has outgrown its window; undefined when nothing can. What came after the last answer
 * is never taken, nor an answer with a call that is still open. More than one summary call can read goes in rounds.
 */
export function planCompaction(inbox: Inbox, memory: Memory, frame: Frame, window: number): Compaction | undefined {
  const start = shownSummary(memory)?.upTo ?? 0;
  const blocks = blocksFrom(memory, start);
  const isOpen = blocks.findIndex(({ from }) => holdsOpenCall(memory, from, inbox.openCalls));
  const lastAnswer = blocks.findLastIndex((block, i) => block.isAnswer && (isOpen < 0 || i < isOpen));
  if (lastAnswer < 0) return undefined;
  // In tokens of the provider, which may count more than the platform does.
  const scale = tokensPerToken(frame, memory, window);
  const tokens = (block: Block) => weigh(block, memory, window) * scale;

  const around = countAround(frame, memory, window) * scale;
  const room = Math.max(window * NEWEST, window * (AIM - SUMMARY) - around);
  let [first, newest] = [blocks.length, 0];
  while (first > 0 && newest + tokens(blocks[first - 1] as Block) <= room) newest += tokens(blocks[--first] as Block);
  // The last answer has results that the model has not seen: it stays if it fits at all.
  if (first > lastAnswer && newestFrom(blocks, lastAnswer, tokens) + around + summaryRoom(window) <= limitOf(window))
    first = lastAnswer;
  const end = first > 0 ? Math.min(first, lastAnswer + 1) : Math.max(1, lastAnswer);

  let [taken, read] = [1, tokens(blocks[0] as Block)];
  while (taken < end && read + tokens(blocks[taken] as Block) <= regionRoom(window))
    read += tokens(blocks[taken++] as Block);
  if (!canSummarise(window)) taken = end;
  const upTo = (blocks[taken - 1] as Block).to;
  return { kind: 'compact', upTo, kept: openMessages(inbox, memory, upTo), window };
}

function newestFrom(blocks: readonly Block[], first: number, tokens: (block: Block) => number): number {
  return blocks.slice(first).reduce((all, block) => all + tokens(block), 0);
}

function holdsOpenCall(memory: Memory, index: number, open: readonly string[]): boolean {
  const entry = memory.entries[index];
  return entry?.kind === 'assistant' && entry.toolCalls.some(({ id }) => open.includes(id));
}
