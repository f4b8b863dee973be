import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { AppError, toAppError } from '@mailroom/contracts';
import type { HostNode } from '@mailroom/hosting';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { InvalidRequest, type Problem } from './problem';
import { requestIdOf } from './request-id';

/** Turns everything that is thrown into a problem; of an unexpected error the answer shows nothing, the log the cause. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly node: HostNode) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<IncomingMessage>();
    const response = http.getResponse<ServerResponse>();
    const error = this.errorOf(thrown, request);
    const requestId = requestIdOf(response);
    const fields = { requestId, method: request.method, code: error.code };
    if (error.status === 500) this.node.logger.error({ ...fields, err: error.cause ?? error }, 'request failed');
    else if (error.status > 500) this.node.logger.warn(fields, 'request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const problem: Problem = {
      type: 'about:blank',
      title: STATUS_CODES[error.status] ?? 'Error',
      status: error.status,
      detail: error.message,
      code: error.code,
      requestId,
      ...(error instanceof InvalidRequest && { errors: error.faults }),
    };
    response.statusCode = error.status;
    response.setHeader('content-type', 'application/problem+json; charset=utf-8');
    response.end(JSON.stringify(problem));
  }

  private errorOf(thrown: unknown, request: IncomingMessage): AppError {
    if (thrown instanceof AppError) return thrown;
    const status = thrown instanceof HttpException ? thrown.getStatus() : statusOf(thrown);
    if (status === 404) return new AppError('not_found', `there is no ${request.method} ${pathOf(request)}`);
    if (status === 413) return new AppError('payload_too_large', 'the body of the request is larger than 256 KiB');
    if (status !== undefined && status < 500) return new AppError('invalid_request', (thrown as Error).message);
    if (!this.node.isConnected) return new AppError('store_unavailable', 'Redis is away: try again', { cause: thrown });
    return toAppError(thrown);
  }
}

/** The body parser's errors carry a status, and `expose` when their text is meant for the client. */
function statusOf(thrown: unknown): number | undefined {
  const { status, expose } = (thrown ?? {}) as { status?: unknown; expose?: unknown };
  return expose === true && typeof status === 'number' ? status : undefined;
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?')[0] ?? '';
}
