import type { ModelAnswer, ModelEvent, ModelRequest } from '../model-client';
import { ModelError } from '../model-errors';
import { OpenAiModelClient, type OpenAiModelClientOptions } from '../openai-model-client';
import { ReplayServer, type Reply } from './replay-server';
import { stream } from './wire';

/** The API key of every test client. */
export const KEY = 'sk-secret-0123456789';
const servers: ReplayServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Starts a server that ends with the test; a text is the body of a stream. */
export async function serve(...replies: (Reply | string)[]): Promise<ReplayServer> {
  const server = await ReplayServer.start(
    ...replies.map((reply) => (typeof reply === 'string' ? { body: reply } : reply)),
  );
  servers.push(server);
  return server;
}

/** A client whose own pauses are tiny. */
export function clientOf(baseUrl: string, options: Partial<OpenAiModelClientOptions> = {}): OpenAiModelClient {
  return new OpenAiModelClient({ baseUrl, apiKey: KEY, backoffMs: 1, ...options });
}

export interface Asked {
  answer: Promise<ModelAnswer>;
  events: ModelEvent[];
}

/** Asks for one answer and keeps what is heard meanwhile. */
export function ask(
  client: OpenAiModelClient,
  request: Partial<ModelRequest> = {},
  heard?: (event: ModelEvent) => void,
): Asked {
  const events: ModelEvent[] = [];
  const answer = client.complete(
    {
      model: 'asked',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [],
      silenceMs: 5_000,
      callMs: 10_000,
      signal: new AbortController().signal,
      ...request,
    },
    (event) => {
      events.push(event);
      heard?.(event);
    },
  );
  return { answer, events };
}

/** The ModelError with which an answer fails. */
export async function failure(answer: Promise<ModelAnswer>): Promise<ModelError> {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ModelError)) throw new Error(`expected a ModelError, got ${String(error)}`);
  return error;
}

/** A whole stream whose text is "done". */
export const OK = stream({ content: 'done' });
