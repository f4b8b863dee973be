import { AppError, type ErrorCode } from '@mailroom/contracts';

/** The codes of a failed model call; the error table says which of them can heal by another attempt. */
export type ModelErrorCode = Extract<ErrorCode, `model_${string}`>;

/** A model call that failed. `message` names the server and repeats what the provider said. */
export class ModelError extends AppError {
  /** Text of the latest attempt that produced any; an incomplete answer. */
  partialText = '';
  /** Attempts that were made. */
  attempts = 1;

  constructor(
    code: ModelErrorCode,
    message: string,
    /** The provider's own code or type, for programs. */
    readonly providerCode?: string,
    /** The pause in milliseconds that the provider asks for. */
    readonly retryAfterMs?: number,
  ) {
    super(code, message);
    this.name = 'ModelError';
  }
}

const PROVIDER_TEXT = 500;
const REFUSALS = /invalid|authentication|permission|forbidden|not_found|content_filter|policy|unsupported/;
/** How OpenAI and its like, Anthropic, Gemini, Bedrock, Cohere, llama.cpp, vLLM, TGI, Ollama and LM Studio say it. */
const TOO_LONG = new RegExp(
  [
    'context_length_exceeded|exceed_context_size',
    'maximum (?:context|prompt|model) length|max(?:imum)? context (?:size|length|window)',
    '(?:prompt|input|request|message|conversation)s? (?:is|are) too (?:long|large)|too many tokens',
    'context (?:size|length|window|limit)s?\\b.{0,40}\\b(?:exceed|overflow|too small|full|reached)',
    '(?:exceed|longer|greater|larger|beyond|overflow|outgrow|does not fit)\\w*\\b.{0,60}\\bcontext[ -](?:size|length|window|limit)',
    'input token count.{0,40}exceeds|reduce the length of the (?:messages|prompt|input)|max_new_tokens` must be',
  ].join('|'),
  'i',
);
const RATE_LIMITS = /rate_limit|too_many|throttl/;

/**
 * Makes the errors of one endpoint. Provider texts may echo the API key, so every text passes through here and the key
 * is cut out. Nothing of a request or of an answer is quoted, and no cause is kept, since both may hold secrets.
 */
export class ModelErrors {
  constructor(
    private readonly url: string,
    private readonly apiKey: string,
  ) {}

  /**
   * What a provider reported: the payload of an error body or of an error in a stream, in any of the common shapes.
   * `status` and `headers` are those of an HTTP error; within a stream a numeric code stands for the status.
   */
  reported(payload: unknown, status?: number, headers?: Headers): ModelError {
    const { text, code, kinds } = readPayload(payload);
    const retryAfterMs = headers && readRetryAfter(headers);
    const said = `${this.redact(text).slice(0, PROVIDER_TEXT) || 'no reason given'}${code && code !== text ? ` (${code})` : ''}`;
    const wait = retryAfterMs === undefined ? '' : `; it asks to wait ${Math.ceil(retryAfterMs / 1_000)} s`;
    return this.make(
      classify(kinds, status ?? statusIn(code), text),
      `${status === undefined ? 'reported an error' : `answered ${status}`}: ${said}${wait}${wayOut(status)}`,
      code,
      retryAfterMs,
    );
  }

  /** A page for browsers under status 200: mostly a base URL without its path. */
  webPage(): ModelError {
    return this.badAnswer(
      'answered with a web page; check that OPENAI_BASE_URL has its whole path, often ending in /v1',
    );
  }

  unreachable(cause: unknown): ModelError {
    return this.make('model_unavailable', `could not be reached (${innermost(cause)}); check OPENAI_BASE_URL`);
  }

  connectionLost(cause: unknown): ModelError {
    return this.make(
      'model_unavailable',
      `broke the connection off before its answer was complete (${innermost(cause)})`,
    );
  }

  /** The stream ended by itself, too early; `started` tells whether there was anything of an answer. */
  incomplete(started: boolean): ModelError {
    return this.make(
      'model_unavailable',
      started ? 'ended its stream before the answer was complete' : 'sent no answer',
    );
  }

  timeout(reason: string): ModelError {
    return this.make('model_timeout', reason);
  }

  /** The provider's content filter took the answer away. */
  filtered(): ModelError {
    return this.make('model_refused', 'stopped the answer by its content filter', 'content_filter');
  }

  badAnswer(reason: string): ModelError {
    return this.make('model_bad_answer', reason);
  }

  private make(code: ModelErrorCode, what: string, providerCode?: string, retryAfterMs?: number): ModelError {
    const message = this.redact(`the model server at ${this.url} ${what}`);
    return new ModelError(code, message, providerCode && this.redact(providerCode), retryAfterMs);
  }

  private redact(text: string): string {
    return this.apiKey === '' ? text : text.replaceAll(this.apiKey, '[key]');
  }
}

function classify(kinds: string, status: number | undefined, text: string): ModelErrorCode {
  // A spent quota comes as 429 too, but cannot heal by waiting.
  if (kinds.includes('insufficient_quota')) return 'model_refused';
  if (status === 413 || (status !== 429 && (TOO_LONG.test(kinds) || TOO_LONG.test(text))))
    return 'model_context_exceeded';
  if (status !== undefined) {
    if (status === 429) return 'model_rate_limited';
    return status >= 500 || status === 408 || status === 409 ? 'model_unavailable' : 'model_refused';
  }
  if (RATE_LIMITS.test(kinds)) return 'model_rate_limited';
  return REFUSALS.test(kinds) ? 'model_refused' : 'model_unavailable';
}

/** Shapes met: text, also a whole page; `{error: text | {…}}`; `{message, type, code}`; `{detail: text | […]}`. */
function readPayload(payload: unknown): { text: string; code: string | undefined; kinds: string } {
  if (typeof payload !== 'object' || payload === null) {
    const text = String(payload ?? '').trim();
    return { text: text.startsWith('<') ? 'a web page' : text, code: undefined, kinds: '' };
  }
  const { error, message, detail, code, type } = payload as Record<string, unknown>;
  if (error) return readPayload(error);
  const reason = message ?? detail ?? '';
  const names = [code, type].filter((name) => (typeof name === 'string' && name !== '') || typeof name === 'number');
  return {
    text: typeof reason === 'string' ? reason : JSON.stringify(reason),
    code: names.length > 0 ? String(names[0]) : undefined,
    kinds: names.join(' ').toLowerCase(),
  };
}

function wayOut(status: number | undefined): string {
  if (status === 401 || status === 403) return '; check OPENAI_API_KEY';
  return status === 404 || status === 405 ? '; check OPENAI_BASE_URL and the name of the model' : '';
}

function statusIn(code: string | undefined): number | undefined {
  return code !== undefined && /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}

/** `retry-after-ms`, or `retry-after` as seconds or as an HTTP date, in milliseconds from now. */
function readRetryAfter(headers: Headers): number | undefined {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds;
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The code or text of the cause that says most: fetch hides ECONNREFUSED two levels down. */
function innermost(thrown: unknown): string {
  let deepest = thrown;
  for (let depth = 0; depth < 5; depth++) {
    const cause = (deepest as { cause?: unknown } | null | undefined)?.cause;
    if (typeof cause !== 'object' || cause === null) break;
    deepest = cause;
  }
  const { code, message } = (deepest ?? {}) as { code?: unknown; message?: unknown };
  return String(code ?? message ?? deepest).slice(0, PROVIDER_TEXT);
}
