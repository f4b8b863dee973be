import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const HEADER = 'x-request-id';

/** Middleware: the client's `x-request-id` when it is a plain word, else a new one; the answer carries it. */
export function assignRequestId(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const asked = request.headers[HEADER];
  response.setHeader(HEADER, typeof asked === 'string' && /^[\w.:-]{1,128}$/.test(asked) ? asked : randomUUID());
  response.setHeader('x-content-type-options', 'nosniff');
  next();
}

/** The id that `assignRequestId` gave. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(HEADER) ?? '');
}
