import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { nowMs } from './clock';
import type { ModelRequest, ScriptedAnswer } from './model-request';
import { leadAnswer, specialistAnswer } from './team-model';

/** What the model plays is its name. */
const PARTS: Record<string, (request: ModelRequest) => ScriptedAnswer> = {
  /** Parks at once, whatever comes. */
  waits: () => ({ calls: [{ name: 'wait_for_messages', args: {} }] }),
  /** Is done at once. */
  answers: () => ({ text: 'Done: there was nothing to find.' }),
  'team-lead': leadAnswer,
  'team-specialist': specialistAnswer,
};

const USAGE = { prompt_tokens: 500, completion_tokens: 60, total_tokens: 560 };

/** A model without latency: an OpenAI-compatible server in this process that streams. */
export class BenchModel {
  /** Requests that were answered. */
  served = 0;
  private arrived: ((at: number) => void) | undefined;

  private constructor(
    readonly url: string,
    private readonly close: () => void,
  ) {}

  static async start(): Promise<BenchModel> {
    const server = createServer({ keepAliveTimeout: 60_000 }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const model = new BenchModel(`http://127.0.0.1:${port}/v1`, () => {
      server.close();
      server.closeAllConnections();
    });
    server.on('request', (request, response) => void model.answer(request, response));
    return model;
  }

  /** The instant at which the next request arrives, by `nowMs`. One can wait at a time. */
  nextRequest(): Promise<number> {
    return new Promise((resolve) => {
      this.arrived = resolve;
    });
  }

  stop(): void {
    this.close();
  }

  private async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.arrived?.(nowMs());
    this.arrived = undefined;
    const request = (await json(incoming)) as ModelRequest;
    const { text = '', calls = [] } = PARTS[request.model]?.(request) ?? {};
    const id = `c${++this.served}`;
    const chunk = (body: object) =>
      `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model: request.model, ...body })}\n\n`;
    const delta = (content: object, finish: string | null = null) =>
      chunk({ choices: [{ index: 0, delta: content, finish_reason: finish }] });
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(
      [
        delta({ role: 'assistant', content: calls.length > 0 ? null : '' }),
        ...calls.map(({ name, args }, index) => {
          const called = { name, arguments: JSON.stringify(args) };
          return delta({ tool_calls: [{ index, id: `call_${id}_${index}`, type: 'function', function: called }] });
        }),
        ...(text.match(/.{1,24}/gs) ?? []).map((piece) => delta({ content: piece })),
        delta({}, calls.length > 0 ? 'tool_calls' : 'stop'),
        chunk({ choices: [], usage: USAGE }),
        'data: [DONE]\n\n',
      ].join(''),
    );
  }
}
