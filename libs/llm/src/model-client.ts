import type { TokenUsage, ToolCall, ToolSpec } from '@mailroom/contracts';

/** One message of a chat, free of any vendor's shape. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: readonly ToolCall[]; reasoning?: string }
  | { role: 'tool'; toolCallId: string; content: string };

export interface ModelRequest {
  model: string;
  /** What later calls of the conversation begin with as well: one list, which only grows, so that it is written once. */
  lasting?: readonly ChatMessage[];
  /** At least one. */
  messages: readonly ChatMessage[];
  /** Empty: the model is asked without tools. */
  tools: readonly ToolSpec[];
  /** Longest silence of one attempt (R13). */
  silenceMs: number;
  /** Longest duration of one attempt (R13). */
  callMs: number;
  signal: AbortSignal;
}

/**
 * What a caller hears while a call runs. A higher `attempt` discards the text of the lower ones. `waiting` comes after
 * the attempt that failed and has its number; `seconds` may be a fraction.
 */
export type ModelEvent =
  | { type: 'text'; text: string; attempt: number }
  | { type: 'reasoning'; text: string; attempt: number }
  | { type: 'waiting'; seconds: number; attempt: number };

export interface ModelAnswer {
  content: string;
  /**
   * Reasoning that the server wants back with the answer (`reasoning_content`). Servers that stream the field
   * `reasoning` may refuse it in a request; theirs is heard as events only.
   */
  reasoning?: string;
  /** Ids are never empty and unique within the answer; `arguments` is the text that the model sent, `{}` for none. */
  toolCalls: ToolCall[];
  usage: TokenUsage;
  /** The model that the server says it used. */
  model: string;
  /** The server's id of the answer, if it told one. */
  responseId?: string;
  /** Duration of the attempt that answered. */
  latencyMs: number;
  /** Attempts that were made, 1 or more. */
  attempts: number;
}

/** One chat completion against any OpenAI-compatible server. */
export interface ModelClient {
  /**
   * Resolves with the whole answer. The only layer that retries.
   * Throws `ModelError` (an `AppError` that carries the partial text); throws the signal's reason when aborted.
   */
  complete(request: ModelRequest, onEvent: (event: ModelEvent) => void): Promise<ModelAnswer>;
}
