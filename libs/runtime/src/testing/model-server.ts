import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a model server gets it. */
export interface ModelRequestBody {
  model: string;
  messages: {
    role: string;
    content: string | null;
    tool_call_id?: string;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  }[];
  tools?: { function: { name: string; parameters: { properties: Record<string, { enum?: string[] }> } } }[];
}

export interface ScriptedAnswer {
  text?: string;
  calls?: { name: string; args: unknown }[];
  status?: number;
  /** What the provider reports with that status. */
  error?: { message: string; code: string };
  /** Tokens that the provider says the request had. */
  promptTokens?: number;
  /** The answer is held until this resolves. */
  after?: Promise<unknown>;
}

/** Who asks: the address that the system prompt names. */
export function askerOf(request: ModelRequestBody): string {
  return /Your address in this session: (.+)/.exec(request.messages[0]?.content ?? '')?.[1] ?? '';
}

/** An OpenAI-compatible server on loopback whose answers a function gives; keeps every request. */
export class ModelServer {
  readonly requests: ModelRequestBody[] = [];
  private readonly waiting: {
    matches: (request: ModelRequestBody) => boolean;
    resolve: (request: ModelRequestBody) => void;
  }[] = [];

  private readonly gone = new Map<ModelRequestBody, Promise<void>>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Resolves when the asker of this request has gone away. */
  dropped(request: ModelRequestBody): Promise<void> {
    return this.gone.get(request) ?? Promise.reject(new Error('no such request'));
  }

  static async start(answer: (request: ModelRequestBody, index: number) => ScriptedAnswer): Promise<ModelServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const model = new ModelServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    server.on('request', async (request: IncomingMessage, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as ModelRequestBody;
      const index = model.requests.push(body) - 1;
      model.gone.set(body, new Promise((resolve) => response.once('close', () => resolve())));
      for (const { matches, resolve } of model.waiting) if (matches(body)) resolve(body);
      const { text = '', calls = [], status, after, error, promptTokens = 10 } = answer(body, index);
      await after;
      if (status !== undefined) {
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: error ?? { message: 'scripted failure', code: 'scripted' } }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta: object, finish: string | null) =>
        response.write(
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        );
      chunk({ role: 'assistant', content: text }, null);
      calls.forEach((call, i) => {
        chunk(
          {
            tool_calls: [
              {
                index: i,
                id: `call_${index}_${i}`,
                type: 'function',
                function: {
                  name: call.name,
                  arguments: typeof call.args === 'string' ? call.args : JSON.stringify(call.args),
                },
              },
            ],
          },
          null,
        );
      });
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop');
      response.end(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices: [], usage: { prompt_tokens: promptTokens, completion_tokens: 5, total_tokens: promptTokens + 5 } })}\n\ndata: [DONE]\n\n`,
      );
    });
    return model;
  }

  /** Resolves with the first request, past or future, for which `matches` holds. */
  seen(matches: (request: ModelRequestBody) => boolean): Promise<ModelRequestBody> {
    const past = this.requests.find(matches);
    return past ? Promise.resolve(past) : new Promise((resolve) => this.waiting.push({ matches, resolve }));
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
