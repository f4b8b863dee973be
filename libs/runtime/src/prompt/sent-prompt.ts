import type { AgentMessage, JournalEntry } from '@mailroom/contracts';
import type { ChatMessage } from '@mailroom/llm';
import { Memory } from '../memory';
import { renderPrompt } from './prompt';

/**
 * What a model was sent at a step, made again from the journal before its answer. Without the system prompt, a lead's
 * table of facts and the tools, which are not journaled.
 */
export function sentPrompt(
  entries: readonly JournalEntry[],
  messages: ReadonlyMap<string, AgentMessage>,
): ChatMessage[] {
  const memory = new Memory();
  memory.add(entries, 0);
  for (const [id, message] of messages) memory.messages.set(id, message);
  const { lasting, messages: latest } = renderPrompt('', memory, undefined);
  return [...lasting, ...latest].slice(1);
}
