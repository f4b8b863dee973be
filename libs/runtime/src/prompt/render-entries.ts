import type {
  AgentMessage,
  AssistantEntry,
  HandoffEntry,
  JournalEntry,
  SentEntry,
  ToolEntry,
} from '@mailroom/contracts';
import type { ChatMessage } from '@mailroom/llm';
import { handoffResult } from '../handoff/handoff-result';
import { cutBodies, cutMessages } from '../history/cut-body';
import { sendOutcome } from '../mail/send-outcome';
import type { Memory } from '../memory';
import { engineBlock, inboxBlock } from './inbox-block';

/**
 * Appends what the entries from `from` to before `to` say, legal for a provider: each tool call is followed by its result,
 * in call order; user texts in a row are one; nothing is empty. Of a body over a quarter of the window only head and
 * tail (R22).
 */
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
    if (!isShownAnswer(entry)) continue;
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

/** True for an answer of the model that stands in a prompt as a message of its own. */
export function isShownAnswer(entry: JournalEntry | undefined): entry is AssistantEntry {
  return entry?.kind === 'assistant' && (entry.content.trim() !== '' || entry.toolCalls.length > 0);
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

/** Appends what is said to the model; to a text before it, if that is no answer. */
export function say(prompt: ChatMessage[], text: string): void {
  const last = prompt.at(-1);
  if (last?.role === 'user') prompt[prompt.length - 1] = { role: 'user', content: `${last.content}\n\n${text}` };
  else prompt.push({ role: 'user', content: text });
}
