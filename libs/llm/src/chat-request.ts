import type OpenAI from 'openai';
import type { Body } from './http-transport';
import { LastingBody } from './lasting-body';
import type { ChatMessage, ModelRequest } from './model-client';
import { wireMessage } from './wire-message';

type Rest = Omit<OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming, 'messages'>;

/** Writes the bodies of streaming chat completions, as JSON. What lasts is written once. */
export class ChatRequests {
  private readonly bodies = new WeakMap<readonly ChatMessage[], LastingBody>();

  constructor(private readonly sendReasoning: boolean) {}

  body({ model, lasting = [], messages, tools }: ModelRequest): Body {
    const rest: Rest = {
      model,
      stream: true,
      stream_options: { include_usage: true },
      // An empty list of tools is an error for some servers.
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, parameters }) => ({
          type: 'function' as const,
          function: { name, description, parameters },
        })),
      }),
    };
    const begin = `${JSON.stringify(rest).slice(0, -1)},"messages":[`;
    const end = `${messages.map(this.json).join()}]}`;
    if (lasting.length === 0) return [begin + end];
    const { bytes, text } = this.lastingBody(begin, lasting);
    return bytes.length === 0 ? [text + end] : [bytes, text + end];
  }

  private lastingBody(begin: string, lasting: readonly ChatMessage[]): LastingBody {
    let body = this.bodies.get(lasting);
    if (body?.begin !== begin) {
      body = new LastingBody(begin, this.json);
      this.bodies.set(lasting, body);
    }
    body.add(lasting);
    return body;
  }

  private readonly json = (message: ChatMessage): string => JSON.stringify(wireMessage(message, this.sendReasoning));
}
