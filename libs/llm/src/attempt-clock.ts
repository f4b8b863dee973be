/** What is left to read after the end mark lets the connection be used again; it is not worth waiting long for. */
const END_GRACE_MS = 200;

/** Made once: an abort without a reason makes an exception with a stack trace for every call. */
const ENDED = new DOMException('the attempt has ended', 'AbortError');

/**
 * The life of one attempt (R13): `signal` aborts when the caller aborts, when no data of the model came for `silenceMs`,
 * or after `callMs` in all. `stop` must be called in the end.
 */
export class AttemptClock {
  private readonly controller = new AbortController();
  private readonly callTimer: NodeJS.Timeout;
  private silenceTimer: NodeJS.Timeout;
  private isRead = false;
  /** Why the time ran out, in words; undefined while it has not. */
  expired: string | undefined;

  constructor(
    private readonly caller: AbortSignal,
    silenceMs: number,
    callMs: number,
  ) {
    this.silenceTimer = setTimeout(() => this.expire(`sent nothing for ${silenceMs} ms`), silenceMs);
    this.callTimer = setTimeout(() => this.expire(`did not finish its answer within ${callMs} ms`), callMs);
    caller.addEventListener('abort', this.abort, { once: true });
    if (caller.aborted) this.abort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The model sent data. Comments that only keep a connection open are no such thing. */
  alive(): void {
    this.silenceTimer.refresh();
  }

  /** The answer is whole: only the end of the body is awaited, briefly. */
  ending(): void {
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(this.abort, END_GRACE_MS);
  }

  /** The body was read to its end: there is nothing left to abort, and an abort costs an exception. */
  done(): void {
    this.isRead = true;
  }

  /** Ends timers and, if the body was not read to its end, the connection. */
  stop(): void {
    clearTimeout(this.silenceTimer);
    clearTimeout(this.callTimer);
    this.caller.removeEventListener('abort', this.abort);
    if (!this.isRead) this.abort();
  }

  private expire(reason: string): void {
    this.expired ??= reason;
    this.abort();
  }

  private readonly abort = (): void => this.controller.abort(ENDED);
}
