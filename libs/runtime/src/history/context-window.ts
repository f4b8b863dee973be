import type { AgentDefinition, JournalEntry, SummaryEntry, ToolSpec } from '@mailroom/contracts';
import { countTokens } from '@mailroom/llm';
import { sendOutcome } from '../mail/send-outcome';
import type { Memory } from '../memory';
import { engineBlock, inboxBlock } from '../prompt/inbox-block';
import type { RunDeps } from '../run-deps';
import { blocksFrom, weigh } from './history-blocks';
import { shownSummary, summaryBlock } from './summary-block';

/** What a request holds besides the history. */
export interface Frame {
  model: string;
  system: string;
  tools: readonly ToolSpec[];
  tail: string | undefined;
}

/** A history takes up to this share of the window before its oldest part is summarised (R22). */
const FULL = 0.75;
/** What is assumed of a window from which a request was refused. */
const OF_REFUSED = 0.75;

/**
 * Tokens that an agent's model takes: what the definition says, what the deployment says of its default model, what is
 * known of the model; and clearly less than what this agent was refused. Undefined: nobody knows.
 */
export function windowOf(
  definition: AgentDefinition,
  { settings, prices }: Pick<RunDeps, 'settings' | 'prices'>,
  memory: Memory,
): number | undefined {
  const model = definition.model ?? settings.model;
  const known =
    definition.contextWindow ??
    (model === settings.model ? settings.contextWindow : undefined) ??
    prices.contextWindow(model);
  const refused = leastRefused(memory, model);
  return refused === undefined ? known : Math.min(known ?? Number.POSITIVE_INFINITY, windowBelow(refused));
}

/** The window to assume after a request of so many tokens was refused. */
export function windowBelow(refused: number): number {
  return Math.floor(refused * OF_REFUSED);
}

/** Tokens that a request may have before the history is shortened. */
export function limitOf(window: number): number {
  return Math.floor(window * FULL);
}

/** Whether the next request would take more than its share of the window. Counts only when bytes cannot tell. */
export function outgrows(frame: Frame, memory: Memory, window: number): boolean {
  const limit = limitOf(window);
  const summary = shownSummary(memory);
  const start = summary?.upTo ?? 0;
  const around = aroundBytes(frame, memory, summary, window);
  // A token is at least one byte.
  if (around + bytesOf(memory, start) <= limit) return false;
  return (figureOf(memory, start, around, window) ?? countAll(frame, memory, window)) > limit;
}

/** Tokens of what stands before and after the entries: system prompt, tools, table of facts, summary. */
export function countAround(frame: Frame, memory: Memory, window: number): number {
  const summary = shownSummary(memory);
  const lasting = countLasting(frame.system) + countLasting(JSON.stringify(frame.tools));
  const told = summary ? countLasting(summaryBlock(summary, memory, window)) : 0;
  return lasting + told + countTokens(frame.tail ?? '') + 32;
}

const lastingCounts = new Map<string, number>();

/** Counts a text that many prompts in a row begin with. */
function countLasting(text: string): number {
  const known = lastingCounts.get(text) ?? countTokens(text);
  if (lastingCounts.size >= 200) lastingCounts.clear();
  lastingCounts.set(text, known);
  return known;
}

/** How many tokens of the provider one of the platform's count stands for; at least 1. */
export function tokensPerToken(frame: Frame, memory: Memory, window: number): number {
  const summary = shownSummary(memory);
  const figure = figureOf(memory, summary?.upTo ?? 0, aroundBytes(frame, memory, summary, window), window);
  return Math.max(1, (figure ?? 0) / countAll(frame, memory, window));
}

function aroundBytes(frame: Frame, memory: Memory, summary: SummaryEntry | undefined, window: number): number {
  return frameBytes(frame) + (summary ? Buffer.byteLength(summaryBlock(summary, memory, window)) : 0);
}

function countAll(frame: Frame, memory: Memory, window: number): number {
  let tokens = countAround(frame, memory, window);
  for (const block of blocksFrom(memory, shownSummary(memory)?.upTo ?? 0)) tokens += weigh(block, memory, window);
  return tokens;
}

/**
 * The provider's figure of the last request and the count of what came after it. Undefined when no answer was made since
 * the history was shortened last, or when its figure cannot be right: texts have one to six bytes a token.
 */
function figureOf(memory: Memory, start: number, around: number, window: number): number | undefined {
  const last = memory.entries.findLastIndex(({ kind }) => SHAPES_PROMPT.includes(kind));
  const answer = memory.entries[last];
  if (answer?.kind !== 'assistant') return undefined;
  const { input } = answer.usage;
  const bytes = around + bytesOf(memory, start, last);
  if (input * 6 < bytes || input > bytes) return undefined;
  return blocksFrom(memory, last).reduce((tokens, block) => tokens + weigh(block, memory, window), input);
}

const SHAPES_PROMPT: readonly JournalEntry['kind'][] = ['assistant', 'summary', 'overflow'];

function frameBytes({ system, tools, tail }: Frame): number {
  return Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools)) + Buffer.byteLength(tail ?? '');
}

/** What a provider wraps a message or a call in, in bytes at most. */
const WRAPPING = 48;
const sizes = new WeakMap<JournalEntry, number>();

/** Bytes of the entries from `start` on, at least as many as a prompt makes of them. */
export function bytesOf(memory: Memory, start: number, end = memory.length): number {
  let bytes = 0;
  for (let i = start; i < end; i++) {
    const entry = memory.entries[i] as JournalEntry;
    let size = sizes.get(entry);
    if (size === undefined) {
      size = Buffer.byteLength(textOf(entry, memory)) + WRAPPING * (1 + callsIn(entry));
      sizes.set(entry, size);
    }
    bytes += size;
  }
  return bytes;
}

function callsIn(entry: JournalEntry): number {
  return entry.kind === 'assistant' ? entry.toolCalls.length : 0;
}

function textOf(entry: JournalEntry, memory: Memory): string {
  switch (entry.kind) {
    case 'assistant': {
      const calls = entry.toolCalls.map((call) => call.id + call.name + call.arguments);
      return entry.content + (entry.reasoning ?? '') + calls.join('');
    }
    case 'mail':
      return inboxBlock(entry.ids.flatMap((id) => memory.messages.get(id) ?? []));
    case 'engine':
      return engineBlock(entry.text);
    case 'sent':
      return entry.callId + sendOutcome(entry);
    case 'tool':
      return entry.callId + entry.content;
    case 'handoff':
      return JSON.stringify([entry, entry.ids.map((id) => memory.messages.get(id))]);
    default:
      return '';
  }
}

function leastRefused(memory: Memory, model: string): number | undefined {
  let least: number | undefined;
  for (const entry of memory.entries)
    if (entry.kind === 'overflow' && entry.model === model) least = Math.min(least ?? entry.tokens, entry.tokens);
  return least;
}
