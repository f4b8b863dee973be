import type { ServerResponse } from 'node:http';

/** A request that is refused: an HTTP status with the error body of the OpenAI API. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
}

/** Answers with the error as OpenAI clients read it. An answer that has begun is cut off instead. */
export function sendError(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const error = thrown instanceof HttpError ? thrown : new HttpError(500, 'the scripted model failed');
  const type =
    error.status === 429 ? 'rate_limit_error' : error.status < 500 ? 'invalid_request_error' : 'server_error';
  sendJson(response, error.status, { error: { message: error.message, type, param: null, code: null } }, error.headers);
}
