import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { nowMs } from './clock';
import type { ModelRequest, ScriptedAnswer } from './model-request';
import { streamedAnswer, wholeAnswer } from './model-wire';
import { leadAnswer, specialistAnswer } from './team-model';

/** What the model plays is its name. */
const PARTS: Record<string, (request: ModelRequest) => ScriptedAnswer> = {
  /** Parks at once, whatever comes. */
  waits: () => ({ calls: [{ name: 'wait_for_messages', args: {} }] }),
  /** Is done at once. */
  answers: () => ({ text: 'Done: there was nothing to find.' }),
  'team-lead': leadAnswer,
  'team-specialist': specialistAnswer,
  /** Peers name one model for all; their specialists have the tool `lookup` and nothing else. */
  m: (request) =>
    (request.tools?.some(({ function: { name } }) => name !== 'lookup') ? leadAnswer : specialistAnswer)(request),
};

/** A model without latency, if none is set: an OpenAI-compatible server in this process. */
export class BenchModel {
  /** Each answer begins so much later. */
  latencyMs = 0;
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
    if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
    const scripted = PARTS[request.model]?.(request) ?? {};
    const answering = { number: ++this.served, model: request.model };
    if (request.stream)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamedAnswer(answering, scripted));
    else response.writeHead(200, { 'content-type': 'application/json' }).end(wholeAnswer(answering, scripted));
  }
}
