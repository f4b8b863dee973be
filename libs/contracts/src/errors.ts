/** Whether trying again can help: never · later (after a pause) · now (the state has to be read again first). */
export type Retry = 'never' | 'later' | 'now';

/** Every error code of the system, with what a client and a queue make of it. The one table. */
export const ERROR_TABLE = {
  invalid_request: { status: 400, retry: 'never' },
  not_found: { status: 404, retry: 'never' },
  agent_not_found: { status: 404, retry: 'never' },
  agent_read_only: { status: 409, retry: 'never' },
  agent_unavailable: { status: 409, retry: 'never' },
  agent_exists: { status: 409, retry: 'never' },
  session_closed: { status: 409, retry: 'never' },
  run_busy: { status: 409, retry: 'later' },
  idempotency_conflict: { status: 422, retry: 'never' },
  payload_too_large: { status: 413, retry: 'never' },
  mailbox_full: { status: 429, retry: 'later' },
  budget_spent: { status: 409, retry: 'never' },
  model_timeout: { status: 504, retry: 'later' },
  model_unavailable: { status: 502, retry: 'later' },
  model_rate_limited: { status: 502, retry: 'later' },
  model_refused: { status: 502, retry: 'never' },
  model_bad_answer: { status: 502, retry: 'never' },
  model_context_exceeded: { status: 502, retry: 'never' },
  handoff_denied: { status: 409, retry: 'never' },
  tool_failed: { status: 500, retry: 'never' },
  lease_lost: { status: 409, retry: 'never' },
  out_of_step: { status: 409, retry: 'now' },
  cancelled: { status: 409, retry: 'now' },
  store_unavailable: { status: 503, retry: 'later' },
  store_version: { status: 500, retry: 'never' },
  misconfigured: { status: 500, retry: 'never' },
  internal: { status: 500, retry: 'never' },
} as const satisfies Record<string, { status: number; retry: Retry }>;
export type ErrorCode = keyof typeof ERROR_TABLE;

/**
 * The one error type of the libraries. The message is written for the reader of an API answer or of a log: it names
 * the thing and the way out, and holds no secret and no prompt.
 */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'AppError';
  }

  get retry(): Retry {
    return ERROR_TABLE[this.code].retry;
  }

  get status(): number {
    return ERROR_TABLE[this.code].status;
  }
}

/** The only door from a thrown value to an AppError. An unknown error keeps its cause and shows nothing of it. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError('internal', 'an unexpected error; the log has the cause', { cause: thrown });
}
