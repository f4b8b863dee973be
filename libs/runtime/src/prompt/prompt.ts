import type { SummaryEntry } from '@mailroom/contracts';
import type { ChatMessage, ModelRequest } from '@mailroom/llm';
import { shownSummary, summaryBlock } from '../history/summary-block';
import type { Memory } from '../memory';
import { isShownAnswer, renderEntries, say } from './render-entries';

/** What a model is sent: messages that later steps begin with as well, then the latest ones. */
export type Prompt = Required<Pick<ModelRequest, 'settled' | 'messages'>>;

/** What stands in a prompt before the first entry that is shown. */
interface Opening {
  system: string;
  summary: SummaryEntry | undefined;
  window: number | undefined;
}

/** All before an answer: results belong to the answer before them, and no text is added to one that was answered. */
interface Settled extends Opening {
  messages: ChatMessage[];
  /** Index of the first entry that is not in them. */
  to: number;
}

const settled = new WeakMap<Memory, Settled>();

/**
 * The history that a model is sent: the system prompt, the journal, and what is said only now. Always legal for a
 * provider (`renderEntries`); what a summary stands for is not shown again (R22). What is settled is rendered once: a
 * step costs what it adds, however long the journal is.
 */
export function renderPrompt(system: string, memory: Memory, tail: string | undefined, window?: number): Prompt {
  const opening = { system, summary: shownSummary(memory), window };
  const before = settle(memory, opening);
  const messages: ChatMessage[] = [];
  if (before.messages.length === 0) open(messages, memory, opening);
  renderEntries(messages, memory, { from: before.to, to: memory.length }, window);
  if (tail !== undefined) say(messages, tail);
  return { settled: before.messages, messages };
}

function settle(memory: Memory, opening: Opening): Settled {
  let known = settled.get(memory);
  if (!known || known.system !== opening.system || known.summary !== opening.summary || known.window !== opening.window)
    known = { ...opening, messages: [], to: opening.summary?.upTo ?? 0 };
  const answer = memory.entries.findLastIndex(isShownAnswer);
  if (answer < known.to) return known;
  if (known.messages.length === 0) open(known.messages, memory, opening);
  renderEntries(known.messages, memory, { from: known.to, to: answer }, opening.window);
  known.to = answer;
  settled.set(memory, known);
  return known;
}

function open(messages: ChatMessage[], memory: Memory, { system, summary, window }: Opening): void {
  messages.push({ role: 'system', content: system });
  if (summary) say(messages, summaryBlock(summary, memory, window));
}
