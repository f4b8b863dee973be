import {
  type Run,
  run,
  type SessionDetail,
  type SessionEvent,
  type SessionUsage,
  sessionDetail,
  sessionEvent,
  sessionUsage,
} from '@mailroom/contracts';
import { createParser } from 'eventsource-parser';

export interface OpenedSession {
  id: string;
  run?: Run;
}

export interface EventsOptions {
  /** Begin after this event id; default: at the beginning of the stream. */
  after?: string;
  /** Ends the iteration without an error. */
  signal?: AbortSignal;
}

/** A small client of the REST interface. Every method throws an error that carries the gateway's own words. */
export class SessionClient {
  constructor(private readonly baseUrl: string) {}

  async open(leadAgentId: string, input?: string): Promise<OpenedSession> {
    return this.request('POST', '/api/v1/sessions', { leadAgentId, input });
  }

  async post(sessionId: string, content: string): Promise<{ msgId: string; runId: string }> {
    return this.request('POST', `/api/v1/sessions/${sessionId}/messages`, { content });
  }

  async detail(sessionId: string): Promise<SessionDetail> {
    return sessionDetail.parse(await this.request('GET', `/api/v1/sessions/${sessionId}`));
  }

  async run(sessionId: string, runId: string): Promise<Run> {
    return run.parse(await this.request('GET', `/api/v1/sessions/${sessionId}/runs/${runId}`));
  }

  async usage(sessionId: string): Promise<SessionUsage> {
    return sessionUsage.parse(await this.request('GET', `/api/v1/sessions/${sessionId}/usage`));
  }

  async end(sessionId: string): Promise<void> {
    await this.request('DELETE', `/api/v1/sessions/${sessionId}`);
  }

  /**
   * The session's events, live and for ever. A broken connection is taken up again after the last event
   * (`Last-Event-ID`), so each comes once and in order.
   * @throws when the gateway refuses, or cannot be reached ten times in a row
   */
  async *events(sessionId: string, { after, signal }: EventsOptions = {}): AsyncGenerator<SessionEvent> {
    let lastId = after;
    let failures = 0;
    while (!signal?.aborted) {
      try {
        const response = await fetch(`${this.baseUrl}/api/v1/sessions/${sessionId}/events`, {
          headers: { accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) },
          signal: signal ?? null,
        });
        if (!response.ok) throw await refusal(response);
        for await (const event of eventsOf(response)) {
          failures = 0;
          lastId = event.id;
          yield event;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (error instanceof RefusedError || ++failures === 10) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 100 * Math.max(failures, 1)));
    }
  }

  private async request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) throw await refusal(response);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }
}

/** The gateway answered, and the answer is no: asking again would not help. */
export class RefusedError extends Error {
  constructor(
    readonly status: number,
    readonly code: string | undefined,
    message: string,
  ) {
    super(message);
  }
}

async function refusal(response: Response): Promise<RefusedError> {
  const text = await response.text();
  let problem: { code?: string; title?: string; detail?: string } = {};
  try {
    problem = JSON.parse(text);
  } catch {}
  const words = [problem.code, problem.detail ?? problem.title ?? text.slice(0, 500)].filter(Boolean).join(': ');
  return new RefusedError(
    response.status,
    problem.code,
    `${new URL(response.url).pathname}: ${response.status} ${words}`,
  );
}

async function* eventsOf(response: Response): AsyncGenerator<SessionEvent> {
  const parsed: SessionEvent[] = [];
  const parser = createParser({ onEvent: ({ data }) => parsed.push(sessionEvent.parse(JSON.parse(data))) });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    yield* parsed.splice(0);
  }
}
