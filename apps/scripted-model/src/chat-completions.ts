import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Barriers } from './barriers';
import { type ChatRequest, chatRequest } from './chat-request';
import { completionBody, completionChunks, completionId, countUsage } from './completion';
import { HttpError, sendJson } from './http-error';
import type { ScriptedAnswer, ScriptedAnswers } from './scripted-answer';
import { readSituation } from './situation';

/** What the endpoint works with. */
export interface ChatDeps {
  answers: ScriptedAnswers;
  barriers: Barriers;
  /** Milliseconds before every answer. */
  latencyMs: number;
  /** Hears every request body, and then the rule that answers. */
  onRequest(body: unknown): void;
  onAnswer(rule: string): void;
  /** Hears of every answer that is sent whole, before its last byte. */
  onServed(answer: ServedAnswer): void;
}

/** One answer as a bill would list it. */
export interface ServedAnswer {
  id: string;
  rule: string;
  input: number;
  output: number;
}

/**
 * `POST /v1/chat/completions`: answers one request by the rules, streaming or whole.
 * Throws `HttpError` for a request that it cannot read, that no rule answers, or that a rule refuses.
 */
export async function answerChat(body: string, response: ServerResponse, deps: ChatDeps): Promise<void> {
  const request = parseBody(body, deps);
  const situation = readSituation(request);
  const answer = deps.answers.answer(situation);
  if (!answer)
    throw new HttpError(
      400,
      `no rule fits this request (role ${situation.role}, agent "${situation.agent}"); end the rules with one without "when"`,
    );
  deps.onAnswer(answer.rule);

  const gone = new AbortController();
  response.once('close', () => gone.abort());
  if (response.destroyed) return;
  await pause(deps.latencyMs + answer.delayMs, gone.signal);
  const holdAt = async (pieces: number) => {
    for (const hold of answer.holds)
      if ((request.stream ? hold.afterPieces : 0) === pieces) await deps.barriers.pass(hold, gone.signal);
  };
  await holdAt(0);
  if (gone.signal.aborted) return;
  if (answer.refusal) throw refused(answer.refusal);

  const usage = countUsage(body, answer);
  const id = completionId();
  const served = () =>
    deps.onServed({ id, rule: answer.rule, input: usage.prompt_tokens, output: usage.completion_tokens });
  if (!request.stream) {
    served();
    sendJson(response, 200, completionBody(id, answer, usage));
  } else {
    const chunks = completionChunks(id, answer, request.stream_options?.include_usage ? usage : undefined);
    await stream(chunks, response, gone.signal, { holdAt, served });
  }
}

function parseBody(body: string, deps: ChatDeps): ChatRequest {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new HttpError(400, 'the request body is not JSON');
  }
  deps.onRequest(json);
  const parsed = chatRequest.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new HttpError(400, `not a chat completion request: ${issue?.path.join('.')}: ${issue?.message}`);
}

function refused({ status, retryAfter }: NonNullable<ScriptedAnswer['refusal']>): HttpError {
  const wait = retryAfter === undefined ? {} : waitHeaders(retryAfter);
  return new HttpError(status, `scripted refusal with status ${status}`, wait);
}

/** `Retry-After` has whole seconds; clients of OpenAI read the exact time from `retry-after-ms`. */
function waitHeaders(seconds: number): Record<string, string> {
  return { 'retry-after': String(Math.ceil(seconds)), 'retry-after-ms': String(Math.round(seconds * 1000)) };
}

/** Before each chunk after the first piece, `holdAt` hears how many pieces are out; `served` hears of the end. */
async function stream(
  chunks: readonly object[],
  response: ServerResponse,
  gone: AbortSignal,
  { holdAt, served }: { holdAt: (pieces: number) => Promise<void>; served: () => void },
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  for (const [index, chunk] of chunks.entries()) {
    // The first chunk is the role alone.
    if (index > 1) await holdAt(index - 1);
    if (gone.aborted) return;
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  served();
  response.end('data: [DONE]\n\n');
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}
