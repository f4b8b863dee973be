import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@mailroom/contracts';
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { AnswerStream } from './answer-stream';
import { AttemptClock } from './attempt-clock';
import { ChatRequests } from './chat-request';
import { ConnectionGate } from './connection-gate';
import { type Body, type HttpRequest, HttpTransport } from './http-transport';
import type { ModelAnswer, ModelClient, ModelEvent, ModelRequest } from './model-client';
import { ModelError, ModelErrors } from './model-errors';
import { type RetryOptions, RetryPolicy } from './retry-policy';
import { SseReader } from './sse-reader';

export interface OpenAiModelClientOptions extends RetryOptions {
  /** Up to and without `/chat/completions`, mostly ending in `/v1`. */
  baseUrl: string;
  /** Empty for a server that asks for none. */
  apiKey: string;
  /** Calls that run at the same time, each on its own connection; the others wait. No limit when absent. */
  maxConnections?: number;
  /** Whether reasoning goes back to the server that sent it; the servers disagree about it. Default true. */
  sendReasoning?: boolean;
}

/**
 * Chat completions of any OpenAI-compatible server. The SDK carries the request; its own retries, stream parser and
 * environment variables are off, since compatible servers deviate in ways that its parser drops in silence.
 * Throws `misconfigured` when `baseUrl` is no http address, or `apiKey` cannot be sent in a header.
 */
export class OpenAiModelClient implements ModelClient {
  private readonly api: OpenAI;
  private readonly errors: ModelErrors;
  private readonly retries: RetryPolicy;
  private readonly gate: ConnectionGate;
  private readonly requests: ChatRequests;

  constructor(options: OpenAiModelClientOptions) {
    // A line end from a secret file would come back as an error that quotes the key.
    if (!/^[\x21-\x7e]*$/.test(options.apiKey))
      throw new AppError(
        'misconfigured',
        'OPENAI_API_KEY has a blank, a line end or another character that no header carries',
      );
    this.errors = new ModelErrors(endpointOf(options.baseUrl), options.apiKey);
    this.api = new Transport({
      baseURL: options.baseUrl,
      apiKey: options.apiKey || 'none',
      adminAPIKey: null,
      organization: null,
      project: null,
      maxRetries: 0,
      defaultHeaders: { 'user-agent': 'mailroom' },
      logLevel: 'off',
    });
    this.retries = new RetryPolicy(options);
    this.gate = new ConnectionGate(options.maxConnections ?? Number.POSITIVE_INFINITY);
    this.requests = new ChatRequests(options.sendReasoning ?? true);
  }

  async complete(request: ModelRequest, onEvent: (event: ModelEvent) => void): Promise<ModelAnswer> {
    const body = this.requests.body(request);
    let partialText = '';
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.attempt(body, request, attempt, onEvent);
      } catch (error) {
        request.signal.throwIfAborted();
        if (!(error instanceof ModelError)) throw error;
        partialText = error.partialText || partialText;
        error.partialText = partialText;
        error.attempts = attempt;
        const pauseMs = this.retries.pauseAfter(error, attempt);
        if (pauseMs === undefined) throw error;
        onEvent({ type: 'waiting', seconds: pauseMs / 1_000, attempt });
        await pause(pauseMs, undefined, { signal: request.signal }).catch(() => request.signal.throwIfAborted());
      }
    }
  }

  private async attempt(
    body: Body,
    request: ModelRequest,
    attempt: number,
    onEvent: (event: ModelEvent) => void,
  ): Promise<ModelAnswer> {
    await this.gate.enter(request.signal);
    const startedAt = performance.now();
    const clock = new AttemptClock(request.signal, request.silenceMs, request.callMs);
    const stream = new AnswerStream(this.errors, (type, text) => onEvent({ type, text, attempt }));
    try {
      await this.read(await this.open(body, clock, request.callMs), stream, clock);
      request.signal.throwIfAborted();
      const answer = stream.finish();
      const latencyMs = Math.round(performance.now() - startedAt);
      return { ...answer, model: answer.model || request.model, latencyMs, attempts: attempt };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const failure = clock.expired === undefined ? error : this.errors.timeout(clock.expired);
      failure.partialText = stream.text;
      throw failure;
    } finally {
      clock.stop();
      this.gate.leave();
    }
  }

  private async open(body: Body, clock: AttemptClock, timeout: number): Promise<Response> {
    try {
      return await this.api
        .post('/chat/completions', { body, signal: clock.signal, timeout, stream: true })
        .asResponse();
    } catch (error) {
      if (error instanceof APIConnectionTimeoutError) throw this.errors.timeout('could not be reached in time');
      if (error instanceof APIConnectionError) throw this.errors.unreachable(error);
      if (!(error instanceof APIError)) throw error;
      // Without a status it is the abort of our own clock or of the caller.
      if (error.status === undefined) throw this.errors.connectionLost(error);
      throw this.errors.reported(error.error, error.status, error.headers);
    }
  }

  private async read(response: Response, stream: AnswerStream, clock: AttemptClock): Promise<void> {
    if (response.headers.get('content-type')?.includes('text/html')) throw this.errors.webPage();
    const sse = new SseReader((data, event) => {
      if (stream.isDone) return;
      clock.alive();
      stream.take(data, event);
      if (stream.isDone) clock.ending();
    });
    try {
      for await (const part of response.body ?? []) sse.push(part);
      clock.done();
    } catch (error) {
      if (error instanceof ModelError) throw error;
      if (!stream.isComplete) throw this.errors.connectionLost(error);
    }
    sse.end();
    if (stream.isComplete) return;
    const stray = sse.stray.trim();
    if (stray.startsWith('<')) throw this.errors.webPage();
    if (stray.startsWith('{')) stream.take(stray);
  }
}

/** The SDK, where what it does for every request is too much or too little for this one kind of request. */
class Transport extends OpenAI {
  private readonly http = new HttpTransport();
  private head: Promise<{ headers: Headers; url: string }> | undefined;

  /**
   * All requests of a client have the same address and headers; the SDK makes them anew each time, over web headers. What
   * it would tell the server of this machine stays here.
   */
  override async buildRequest(...args: Parameters<OpenAI['buildRequest']>): ReturnType<OpenAI['buildRequest']> {
    const [{ method, body, signal, timeout = this.timeout }] = args;
    this.head ??= super.buildRequest(...args).then(({ req, url }) => {
      const told = [...req.headers].filter(([name]) => !name.startsWith('x-stainless-'));
      return { headers: Object.fromEntries(told) as unknown as Headers, url };
    });
    const { headers, url } = await this.head;
    // The body is written already; the SDK's types know none of that kind.
    return { req: { method, headers, body: body as string, ...(signal && { signal }) }, url, timeout };
  }

  /** Without a time limit of the SDK's own: the signal has it. */
  override fetchWithTimeout(url: string, init: RequestInit = {}): Promise<Response> {
    // As `buildRequest` made it.
    return this.http.send(url, init as unknown as HttpRequest);
  }

  /** The SDK reads only the field `error` of an error body; here the whole body reaches the one place that reads it. */
  protected override makeStatusError(
    status: number,
    body: object,
    text: string | undefined,
    headers: Headers,
  ): APIError {
    return super.makeStatusError(status, { error: body ?? text }, undefined, headers);
  }
}

/** The address for error texts. Credentials in it would end up there, and fetch refuses them. */
function endpointOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new AppError('misconfigured', 'OPENAI_BASE_URL has to be an http or https address without a user name');
  return `${url.origin}${url.pathname.replace(/\/$/, '')}/chat/completions`;
}
