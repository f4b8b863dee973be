import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** One answer of the server. Without `end` the body is ended properly. */
export interface Reply {
  body: string;
  status?: number;
  headers?: Record<string, string>;
  /** Bytes per write. */
  split?: number;
  /** After the body: cut the connection, leave it open, or send the body again until the client has gone. */
  end?: 'reset' | 'hang' | 'repeat';
}

export interface SeenRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  socket: Socket;
  /** Resolves when the exchange is over, by whichever side. */
  closed: Promise<void>;
}

/** A real HTTP server that answers each request with the next reply, the last one for ever. */
export class ReplayServer {
  readonly requests: SeenRequest[] = [];
  private readonly server = createServer((request, response) => {
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const { url: path = '', headers, socket } = request;
      this.requests.push({ path, headers, body: JSON.parse(text), socket, closed });
      this.onRequest(this.requests.length);
      void this.answer(response, this.replies[this.requests.length - 1] ?? this.replies.at(-1));
    });
  });
  /** Called with the number of the request before it is answered. */
  onRequest: (count: number) => void = () => {};

  private constructor(private readonly replies: readonly Reply[]) {}

  static async start(...replies: Reply[]): Promise<ReplayServer> {
    const server = new ReplayServer(replies);
    await new Promise<void>((resolve) => server.server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(response: ServerResponse, reply: Reply = { body: '' }): Promise<void> {
    response.writeHead(reply.status ?? 200, { 'content-type': 'text/event-stream', ...reply.headers });
    response.flushHeaders();
    const bytes = Buffer.from(reply.body);
    const step = reply.split ?? (bytes.length || 1);
    do {
      for (let at = 0; at < bytes.length; at += step) {
        response.write(bytes.subarray(at, at + step));
        await turn();
      }
    } while (reply.end === 'repeat' && !response.destroyed);
    if (reply.end === 'reset') response.socket?.resetAndDestroy();
    else if (reply.end !== 'hang') response.end();
  }
}
