import type OpenAI from 'openai';
import type { ChatMessage } from './model-client';

type Wire = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type WireAssistant = OpenAI.Chat.Completions.ChatCompletionAssistantMessageParam & { reasoning_content?: string };

/**
 * A message as the chat completions API takes it. Every text that goes out as tool arguments is valid JSON, since strict
 * servers refuse a whole history for one broken call. With `sendReasoning`, reasoning goes back on messages that carry
 * tool calls, as `reasoning_content`.
 */
export function wireMessage(message: ChatMessage, sendReasoning: boolean): Wire {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  if (message.toolCalls.length === 0) return { role: 'assistant', content: message.content };
  const wire: WireAssistant = {
    role: 'assistant',
    content: message.content === '' ? null : message.content,
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function' as const,
      function: { name: call.name, arguments: validArguments(call.arguments) },
    })),
  };
  if (sendReasoning && message.reasoning) wire.reasoning_content = message.reasoning;
  return wire;
}

/** What was no JSON is shown to the model as the text that it wrote. */
function validArguments(sent: string): string {
  try {
    JSON.parse(sent);
    return sent;
  } catch {
    return JSON.stringify({ unparsed: sent });
  }
}
