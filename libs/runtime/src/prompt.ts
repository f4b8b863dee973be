import type { AgentMessage, HandoffEntry, SentEntry, ToolEntry } from '@mailroom/contracts';
import type { ChatMessage } from '@mailroom/llm';
import { handoffResult } from './handoff-result';
import { engineBlock, inboxBlock } from './inbox-block';
import type { Memory } from './memory';
import { sendOutcome } from './send-outcome';

/**
 * The history that a model is sent: the system prompt, the journal, and what is said only now. Always legal for a
 * provider: each tool call is followed by its result, in call order; user texts in a row are one; nothing is empty.
 */
export function renderPrompt(system: string, memory: Memory, tail: string | undefined): ChatMessage[] {
  const prompt: ChatMessage[] = [{ role: 'system', content: system }];
  memory.entries.forEach((entry, index) => {
    if (entry.kind === 'mail') say(prompt, inboxBlock(entry.ids.flatMap((id) => present(memory.messages.get(id)))));
    if (entry.kind === 'engine') say(prompt, engineBlock(entry.text));
    if (entry.kind !== 'assistant') return;
    if (entry.content.trim() === '' && entry.toolCalls.length === 0) return;
    prompt.push({
      role: 'assistant',
      content: entry.content,
      toolCalls: entry.toolCalls,
      ...(entry.reasoning !== undefined && { reasoning: entry.reasoning }),
    });
    const results = memory.resultsOf(index);
    for (const call of entry.toolCalls) {
      const result = results.get(call.id);
      prompt.push({ role: 'tool', toolCallId: call.id, content: resultText(result, memory) });
    }
  });
  if (tail !== undefined) say(prompt, tail);
  return prompt;
}

function resultText(result: ToolEntry | SentEntry | HandoffEntry | undefined, memory: Memory): string {
  if (result?.kind === 'sent') return sendOutcome(result);
  if (result?.kind === 'handoff') return handoffResult(result, memory.messages);
  return result?.content ?? 'The outcome of this call is unknown.';
}

function say(prompt: ChatMessage[], text: string): void {
  const last = prompt.at(-1);
  if (last?.role === 'user') prompt[prompt.length - 1] = { role: 'user', content: `${last.content}\n\n${text}` };
  else prompt.push({ role: 'user', content: text });
}

function present(message: AgentMessage | undefined): AgentMessage[] {
  return message ? [message] : [];
}
