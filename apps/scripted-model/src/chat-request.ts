import { z } from 'zod';

const textPart = z.object({ type: z.literal('text'), text: z.string() });

/** Content is a string, text parts, or nothing (an assistant message that only calls tools). Reads as one string. */
const content = z
  .union([z.string(), z.array(textPart), z.null()])
  .optional()
  .transform((value) => (Array.isArray(value) ? value.map((part) => part.text).join('\n') : (value ?? '')));

const toolCall = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) });

const chatMessage = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content,
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().optional(),
});

const tool = z.object({
  type: z.literal('function'),
  function: z.object({ name: z.string(), parameters: z.record(z.string(), z.unknown()).optional() }),
});

/** What this server reads of a chat completion request; every other field of the OpenAI API is accepted and ignored. */
export const chatRequest = z.object({
  model: z.string().optional(),
  messages: z.array(chatMessage).min(1),
  tools: z.array(tool).default([]),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});
export type ChatRequest = z.output<typeof chatRequest>;
