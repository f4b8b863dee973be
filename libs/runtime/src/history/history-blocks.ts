import type { JournalEntry } from '@mailroom/contracts';
import type { ChatMessage } from '@mailroom/llm';
import { countTokens } from '@mailroom/llm';
import type { Memory } from '../memory';
import { renderEntries } from '../prompt/render-entries';

/** Entries that a prompt shows or drops together: an answer with all its results, or anything else alone. */
export interface Block {
  from: number;
  /** Index after its last entry. */
  to: number;
  isAnswer: boolean;
}

/** The blocks from an index on; there is always one that begins there, unless the journal ends. */
export function blocksFrom(memory: Memory, start: number): Block[] {
  const blocks: Block[] = [];
  for (let from = start; from < memory.length; from = blocks.at(-1)?.to ?? memory.length) {
    const isAnswer = memory.entries[from]?.kind === 'assistant';
    blocks.push({ from, to: isAnswer ? endOfResults(memory, from) : from + 1, isAnswer });
  }
  return blocks;
}

function endOfResults(memory: Memory, answer: number): number {
  let end = answer + 1;
  for (let i = end; i < memory.length && memory.entries[i]?.kind !== 'assistant'; i++)
    if ('callId' in (memory.entries[i] as JournalEntry)) end = i + 1;
  return end;
}

const weights = new WeakMap<JournalEntry, { key: string; tokens: number }>();

/** Tokens of a block as it is shown; counted once. */
export function weigh(block: Block, memory: Memory, window: number): number {
  const first = memory.entries[block.from] as JournalEntry;
  const key = `${window}:${block.to - block.from}`;
  const known = weights.get(first);
  if (known?.key === key) return known.tokens;
  const shown: ChatMessage[] = [];
  renderEntries(shown, memory, block, window);
  const tokens = countMessages(shown);
  weights.set(first, { key, tokens });
  return tokens;
}

/** What a provider adds to each message and call, at most. */
const WRAPPING = 8;

/** Tokens of messages by the platform's own count. */
export function countMessages(messages: readonly ChatMessage[]): number {
  let tokens = 0;
  for (const message of messages) {
    tokens += countTokens(message.content) + WRAPPING;
    if (message.role === 'tool') tokens += countTokens(message.toolCallId);
    if (message.role !== 'assistant') continue;
    tokens += countTokens(message.reasoning ?? '');
    for (const call of message.toolCalls)
      tokens += countTokens(call.name) + countTokens(call.arguments) + countTokens(call.id) + WRAPPING;
  }
  return tokens;
}
