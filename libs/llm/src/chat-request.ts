import type OpenAI from 'openai';
import type { ChatMessage, ModelRequest } from './model-client';

type Wire = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type WireAssistant = OpenAI.Chat.Completions.ChatCompletionAssistantMessageParam & { reasoning_content?: string };

/**
 * The body of a streaming chat completion. Every text that goes out as tool arguments is valid JSON, since strict
 * servers refuse a whole history for one broken call. With `sendReasoning`, reasoning goes back on messages that carry
 * tool calls, as `reasoning_content`.
 */
export function chatRequest(
  request: ModelRequest,
  sendReasoning: boolean,
): OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming {
  return {
    model: request.model,
    messages: request.messages.map((message) => wireMessage(message, sendReasoning)),
    // An empty list of tools is an error for some servers.
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, parameters }) => ({
        type: 'function' as const,
        function: { name, description, parameters },
      })),
    }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function wireMessage(message: ChatMessage, sendReasoning: boolean): Wire {
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
