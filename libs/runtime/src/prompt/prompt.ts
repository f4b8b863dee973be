import type { AgentMessage, HandoffEntry, JournalEntry, SentEntry, ToolEntry } from '@mailroom/contracts';
import type { ChatMessage } from '@mailroom/llm';
import { handoffResult } from '../handoff/handoff-result';
import { cutBodies, cutMessages } from '../history/cut-body';
import { shownSummary, summaryBlock } from '../history/summary-block';
import { sendOutcome } from '../mail/send-outcome';
import type { Memory } from '../memory';
import { engineBlock, inboxBlock } from './inbox-block';

/**
 * The history that a model is sent: the system prompt, the journal, and what is said only now. Always legal for a
 * provider: each tool call is followed by its result, in call order; user texts in a row are one; nothing is empty.
 * What a summary stands for is not shown again, and of a body over a quarter of the window only head and tail (R22).
 */
export function renderPrompt(system: string, memory: Memory, tail: string | undefined, window?: number): ChatMessage[] {
  const prompt: ChatMessage[] = [{ role: 'system', content: system }];
  const summary = shownSummary(memory);
  if (summary) say(prompt, summaryBlock(summary, memory, window));
  renderEntries(prompt, memory, { from: summary?.upTo ?? 0, to: memory.length }, window);
  if (tail !== undefined) say(prompt, tail);
  return prompt;
}

/** Appends what the entries from `from` to before `to` say. */
export function renderEntries(
  prompt: ChatMessage[],
  memory: Memory,
  { from, to }: { from: number; to: number },
  window: number | undefined,
): void {
  for (let index = from; index < to; index++) {
    const entry = memory.entries[index] as JournalEntry;
    if (entry.kind === 'mail') say(prompt, inboxBlock(cutMessages(entry, mailOf(entry.ids, memory), window)));
    if (entry.kind === 'engine') say(prompt, engineBlock(entry.text));
    if (entry.kind !== 'assistant') continue;
    if (entry.content.trim() === '' && entry.toolCalls.length === 0) continue;
    prompt.push({
      role: 'assistant',
      content: entry.content,
      toolCalls: entry.toolCalls,
      ...(entry.reasoning !== undefined && { reasoning: entry.reasoning }),
    });
    const results = memory.resultsOf(index);
    const bodies = entry.toolCalls.map(({ id }) => ({
      id: `${id}@${entry.step}`,
      text: resultText(results.get(id), memory),
    }));
    const shown = cutBodies(entry, bodies, window);
    for (const [i, { id }] of entry.toolCalls.entries())
      prompt.push({ role: 'tool', toolCallId: id, content: shown[i] ?? '' });
  }
}

function mailOf(ids: readonly string[], memory: Memory): AgentMessage[] {
  return ids.flatMap((id) => memory.messages.get(id) ?? []);
}

/** What a model reads as the result of a call. */
export function resultText(result: ToolEntry | SentEntry | HandoffEntry | undefined, memory: Memory): string {
  if (result?.kind === 'sent') return sendOutcome(result);
  if (result?.kind === 'handoff') return handoffResult(result, memory.messages);
  return result?.content ?? 'The outcome of this call is unknown.';
}

function say(prompt: ChatMessage[], text: string): void {
  const last = prompt.at(-1);
  if (last?.role === 'user') prompt[prompt.length - 1] = { role: 'user', content: `${last.content}\n\n${text}` };
  else prompt.push({ role: 'user', content: text });
}
