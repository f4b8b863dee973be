import type OpenAI from 'openai';
import type { ChatMessage, ModelRequest } from './model-client';
import { SettledBody } from './settled-body';
import { wireMessage } from './wire-message';

type Rest = Omit<OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming, 'messages'>;

/** JSON in pieces that follow each other. */
export type Body = readonly (string | Uint8Array)[];

/** Writes the bodies of streaming chat completions, as JSON. What is settled is written once. */
export class ChatRequests {
  private readonly bodies = new WeakMap<readonly ChatMessage[], SettledBody>();

  constructor(private readonly sendReasoning: boolean) {}

  body({ model, settled = [], messages, tools }: ModelRequest): Body {
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
    if (settled.length === 0) return [begin + end];
    const { bytes, text } = this.settledBody(begin, settled);
    return bytes.length === 0 ? [text + end] : [bytes, text + end];
  }

  private settledBody(begin: string, settled: readonly ChatMessage[]): SettledBody {
    let body = this.bodies.get(settled);
    if (body?.begin !== begin) {
      body = new SettledBody(begin, this.json);
      this.bodies.set(settled, body);
    }
    body.add(settled);
    return body;
  }

  private readonly json = (message: ChatMessage): string => JSON.stringify(wireMessage(message, this.sendReasoning));
}
