import type { IncomingMessage, ServerResponse } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { cursor } from './event-query';
import { InvalidRequest } from './problem';
import { spaceOf } from './space';

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Made once: an abort without a reason makes an exception with a stack trace for every answer. */
const CLOSED = new DOMException('the connection has closed', 'AbortError');

/** One request and its answer, for handlers that need more than parameters and body. */
export class Exchange {
  readonly space = spaceOf();
  /** Aborts when the connection closes: the client has left, or was answered. */
  readonly left: AbortSignal;

  constructor(
    private readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {
    const left = new AbortController();
    this.left = left.signal;
    // Handlers start after asynchronous work: the client may have left before, and `close` does not come again.
    if (response.closed || request.socket.destroyed) left.abort(CLOSED);
    else response.once('close', () => left.abort(CLOSED));
  }

  /** The `Idempotency-Key` header: 1 to 255 visible ASCII characters. Throws `invalid_request`. */
  get idempotencyKey(): string | undefined {
    const key = this.request.headers['idempotency-key'];
    if (key === undefined || (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key))) return key;
    throw new InvalidRequest([{ path: 'Idempotency-Key', message: 'has 1 to 255 visible ASCII characters' }]);
  }

  /** The `traceparent` header, for the message that the request sends; a malformed one counts as none. */
  get traceparent(): string | undefined {
    const { traceparent } = this.request.headers;
    return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
  }

  /** The `Last-Event-ID` header. Throws `invalid_request`. */
  get lastEventId(): string | undefined {
    const id = this.request.headers['last-event-id'];
    if (!id) return undefined;
    const parsed = cursor.safeParse(id);
    if (parsed.success) return parsed.data;
    throw new InvalidRequest([{ path: 'Last-Event-ID', message: 'has to be the id of an event' }]);
  }
}

/** The `Exchange` of the request, as a handler's parameter. */
export const ThisExchange = createParamDecorator((_data: unknown, context: ExecutionContext): Exchange => {
  const http = context.switchToHttp();
  return new Exchange(http.getRequest<IncomingMessage>(), http.getResponse<ServerResponse>());
});
