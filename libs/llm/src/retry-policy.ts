import { LIMITS } from '@mailroom/contracts';
import type { ModelError } from './model-errors';

export interface RetryOptions {
  /** Attempts in all. */
  attempts?: number;
  /** The longest pause that a provider may ask for; a longer one fails the call at once. */
  providerWaitMs?: number;
  /** First pause of the exponential backoff. */
  backoffMs?: number;
}

const LONGEST_BACKOFF_MS = 8_000;

/** Decides whether and when a failed attempt is repeated. The error table decides what can heal. */
export class RetryPolicy {
  private readonly attempts: number;
  private readonly providerWaitMs: number;
  private readonly backoffMs: number;

  constructor(options: RetryOptions = {}) {
    this.attempts = options.attempts ?? LIMITS.modelAttempts;
    this.providerWaitMs = options.providerWaitMs ?? LIMITS.providerWaitMs;
    this.backoffMs = options.backoffMs ?? 500;
  }

  /**
   * The pause in milliseconds after the attempt with this number, or undefined when the call has failed for good.
   * A pause that the provider asks for is never shortened. Jitter keeps many agents from coming back at once.
   */
  pauseAfter(error: ModelError, attempt: number): number | undefined {
    if (error.retry !== 'later' || attempt >= this.attempts) return undefined;
    const asked = error.retryAfterMs ?? 0;
    if (asked > this.providerWaitMs) return undefined;
    const backoff = Math.min(this.backoffMs * 2 ** (attempt - 1), LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
    return Math.max(asked * (1 + Math.random() / 10), backoff);
  }
}
