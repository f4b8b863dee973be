import type { SummaryEntry } from '@mailroom/contracts';
import type { ChatMessage, ModelRequest } from '@mailroom/llm';
import { shownSummary, summaryBlock } from '../history/summary-block';
import type { Memory } from '../memory';
import { isShownAnswer, renderEntries, say } from './render-entries';

/** What a model is sent: messages that later steps begin with as well, then the latest ones. */
export type Prompt = Required<Pick<ModelRequest, 'lasting' | 'messages'>>;

/** What stands in a prompt before the first entry that is shown. */
interface Opening {
  system: string;
  summary: SummaryEntry | undefined;
  window: number | undefined;
}

/** All before the last answer: results belong to the answer before them, and no text is added to one that was answered. */
interface Lasting extends Opening {
  messages: ChatMessage[];
  /** Index of the first entry that is not in them. */
  to: number;
}

const KEPT = new WeakMap<Memory, Lasting>();

/**
 * The history that a model is sent: the system prompt, the journal, and what is said only now. Always legal for a
 * provider (`renderEntries`); what a summary stands for is not shown again (R22). What lasts is rendered once: a
 * step costs what it adds, however long the journal is.
 */
export function renderPrompt(system: string, memory: Memory, tail: string | undefined, window?: number): Prompt {
  const opening = { system, summary: shownSummary(memory), window };
  const before = lastingOf(memory, opening);
  const messages: ChatMessage[] = [];
  if (before.messages.length === 0) open(messages, memory, opening);
  renderEntries(messages, memory, { from: before.to, to: memory.length }, window);
  if (tail !== undefined) say(messages, tail);
  return { lasting: before.messages, messages };
}

function lastingOf(memory: Memory, opening: Opening): Lasting {
  const kept = KEPT.get(memory);
  const lasting = kept && isAlike(kept, opening) ? kept : { ...opening, messages: [], to: opening.summary?.upTo ?? 0 };
  const answer = memory.entries.findLastIndex(isShownAnswer);
  if (answer < lasting.to) return lasting;
  if (lasting.messages.length === 0) open(lasting.messages, memory, opening);
  renderEntries(lasting.messages, memory, { from: lasting.to, to: answer }, opening.window);
  lasting.to = answer;
  KEPT.set(memory, lasting);
  return lasting;
}

function isAlike(a: Opening, b: Opening): boolean {
  return a.system === b.system && a.summary === b.summary && a.window === b.window;
}

function open(messages: ChatMessage[], memory: Memory, { system, summary, window }: Opening): void {
  messages.push({ role: 'system', content: system });
  if (summary) say(messages, summaryBlock(summary, memory, window));
}
