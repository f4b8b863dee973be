import type { TokenUsage } from '@mailroom/contracts';
import type { ModelAnswer } from './model-client';
import type { ModelErrors } from './model-errors';
import { ToolCallAssembly } from './tool-call-assembly';

/** The fields of a chunk that are read. It comes from any server, so each is checked where it is used. */
interface WireChunk {
  error?: unknown;
  id?: unknown;
  model?: unknown;
  usage?: WireUsage | null;
  choices?: unknown;
}

interface WireUsage {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: { cached_tokens?: unknown } | null;
  completion_tokens_details?: { reasoning_tokens?: unknown } | null;
}

interface WireChoice {
  delta?: WireDelta | null;
  /** Servers that ignore `stream` answer with a whole message. */
  message?: WireDelta | null;
  finish_reason?: unknown;
}

interface WireDelta {
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
  tool_calls?: unknown;
}

/** Translates the payloads of one stream into text and reasoning deltas and, in the end, the answer. */
export class AnswerStream {
  private readonly calls = new ToolCallAssembly();
  private content = '';
  /** Reasoning that the server wants back. */
  private echo = '';
  private usage: WireUsage | undefined;
  private model = '';
  private id = '';
  private finishReason = '';
  private started = false;
  private done = false;

  constructor(
    private readonly errors: ModelErrors,
    private readonly onDelta: (type: 'text' | 'reasoning', text: string) => void,
  ) {}

  /** The text so far. */
  get text(): string {
    return this.content;
  }

  /** True from the end mark on: nothing of interest can follow. */
  get isDone(): boolean {
    return this.done;
  }

  /** True when the answer is whole, so that the end of the connection no longer matters. */
  get isComplete(): boolean {
    return this.started && (this.done || this.finishReason !== '');
  }

  /** Takes one payload. Throws `ModelError` for an error in the stream and for what is not JSON. */
  take(data: string, event = ''): void {
    if (this.done) return;
    if (data.startsWith('[DONE]')) {
      this.done = true;
      return;
    }
    const chunk = this.parse(data, event);
    if (chunk.error || event === 'error') throw this.errors.reported(chunk);
    if (isText(chunk.model)) this.model = chunk.model;
    if (isText(chunk.id)) this.id = chunk.id;
    // The counts are cumulative: the last one holds.
    if (chunk.usage) this.usage = chunk.usage;
    const choice = Array.isArray(chunk.choices) ? (chunk.choices[0] as WireChoice | null | undefined) : undefined;
    if (!choice) return;
    this.started = true;
    if (typeof choice.finish_reason === 'string') this.finishReason = choice.finish_reason;
    const delta = choice.delta ?? choice.message;
    if (delta) this.takeDelta(delta);
  }

  /** The answer. Throws `ModelError` when there is none, or only a part of one. */
  finish(): Omit<ModelAnswer, 'latencyMs' | 'attempts'> {
    if (!this.isComplete) throw this.errors.incomplete(this.started);
    if (this.finishReason === 'error') throw this.errors.reported('the answer was broken off');
    if (this.finishReason === 'content_filter') throw this.errors.filtered();
    if (this.finishReason === 'length' && this.calls.isCut)
      throw this.errors.badAnswer(
        'reached its output limit inside a tool call; give the model a higher limit or ask for less',
      );
    return {
      content: this.content,
      ...(this.echo !== '' && { reasoning: this.echo }),
      toolCalls: this.calls.finish(),
      usage: tokenUsage(this.usage),
      model: this.model,
      ...(this.id !== '' && { responseId: this.id }),
    };
  }

  private takeDelta(delta: WireDelta): void {
    const { content, refusal, reasoning_content: echoed, reasoning, tool_calls: calls } = delta;
    if (isText(echoed)) {
      this.echo += echoed;
      this.onDelta('reasoning', echoed);
    } else if (isText(reasoning)) {
      this.onDelta('reasoning', reasoning);
    }
    const text = isText(content) ? content : refusal;
    if (isText(text)) {
      this.content += text;
      this.onDelta('text', text);
    }
    if (Array.isArray(calls)) this.calls.take(calls);
  }

  private parse(data: string, event: string): WireChunk {
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      if (event === 'error') throw this.errors.reported(data);
    }
    if (typeof chunk !== 'object' || chunk === null) throw this.errors.badAnswer('sent data that is no JSON object');
    return chunk;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function tokenUsage(usage: WireUsage | undefined): TokenUsage {
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
  return {
    input: count(usage?.prompt_tokens),
    output: count(usage?.completion_tokens),
    ...(cached != null && { cached: count(cached) }),
    ...(reasoning != null && { reasoning: count(reasoning) }),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
}
