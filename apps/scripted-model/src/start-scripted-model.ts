import { openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BarrierState, Barriers } from './barriers';
import { answerChat, type ChatDeps, type ServedAnswer } from './chat-completions';
import { MODEL_ID } from './completion';
import { HttpError, sendError, sendJson } from './http-error';
import { loadRules, parseRules, SHIPPED_RULES } from './load-rules';
import { ScriptedAnswers } from './scripted-answer';

export interface ScriptedModelOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Path of a YAML rules file; the shipped rules when absent. */
  rulesFile?: string;
  /** Rules as data; they come before those of `rulesFile`. */
  rules?: readonly unknown[];
  /** Milliseconds before every answer. Default 0. */
  latencyMs?: number;
  /** Keep the latest 200 request bodies. Default false. */
  record?: boolean;
  /** A file to which every request is appended before it is answered: JSON lines {t, body}, t in ms of the machine's monotonic clock. */
  recordFile?: string;
}

export interface ScriptedModelStats {
  /** Requests that a rule has answered or refused. */
  served: number;
  byRule: Record<string, number>;
  barriers: Record<string, BarrierState>;
}

/** A running scripted model. */
export interface ScriptedModel {
  /** The origin, for example `http://127.0.0.1:4010`. */
  url: string;
  /** The base URL for an OpenAI client: the origin and `/v1`. */
  baseUrl: string;
  stats(): ScriptedModelStats;
  /** The recorded request bodies, oldest first; empty when not recording. */
  requests(): readonly unknown[];
  /** The latest 10,000 answers that were sent whole, oldest first. */
  served(): readonly ServedAnswer[];
  /** Opens a barrier for those who wait and for those who come. */
  release(barrier: string): void;
  /** Resolves as soon as a request is held at the barrier. */
  held(barrier: string): Promise<void>;
  /** Ends held and streaming answers and stops listening. */
  close(): Promise<void>;
}

const KEPT_REQUESTS = 200;
const KEPT_ANSWERS = 10_000;
const BODY_LIMIT = 64 * 1024 * 1024;

/** Starts the server. Throws `RulesError` for bad rules; rejects with the system's error when the port is taken. */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const { port = 0, host = '127.0.0.1', record = false } = options;
  const rules = [
    ...parseRules(options.rules ?? [], 'rules'),
    ...(options.rules && !options.rulesFile ? [] : loadRules(options.rulesFile ?? SHIPPED_RULES)),
  ];
  const recorded: unknown[] = [];
  const served: ServedAnswer[] = [];
  const byRule = new Map<string, number>();
  const barriers = new Barriers();
  const file = options.recordFile === undefined ? undefined : openSync(options.recordFile, 'a');
  const deps: ChatDeps = {
    answers: new ScriptedAnswers(rules),
    barriers,
    latencyMs: options.latencyMs ?? 0,
    onRequest: (body) => {
      if (record) recorded.push(body);
      if (recorded.length > KEPT_REQUESTS) recorded.shift();
      if (file !== undefined)
        writeSync(file, `${JSON.stringify({ t: Number(process.hrtime.bigint()) / 1e6, body })}\n`);
    },
    onAnswer: (rule) => byRule.set(rule, (byRule.get(rule) ?? 0) + 1),
    onServed: (answer) => {
      served.push(answer);
      if (served.length > KEPT_ANSWERS) served.shift();
    },
  };
  const stats = (): ScriptedModelStats => ({
    served: [...byRule.values()].reduce((sum, count) => sum + count, 0),
    byRule: Object.fromEntries(byRule),
    barriers: barriers.state(),
  });

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    // A base URL is accepted with and without its `/v1`.
    const at = `${request.method} ${path.replace(/^\/v1(?=\/)/, '')}`;
    const barrier = /^POST \/barriers\/([\w.-]+)\/release$/.exec(at)?.[1];
    if (at === 'POST /chat/completions') await answerChat(await readBody(request), response, deps);
    else if (at === 'GET /models')
      sendJson(response, 200, {
        object: 'list',
        data: [{ id: MODEL_ID, object: 'model', created: 0, owned_by: 'mailroom' }],
      });
    else if (at === 'GET /health') sendJson(response, 200, { status: 'ok', model: MODEL_ID });
    else if (at === 'GET /stats') sendJson(response, 200, stats());
    else if (at === 'GET /served') sendJson(response, 200, served);
    else if (at === 'GET /requests' && record) sendJson(response, 200, recorded);
    else if (barrier) {
      barriers.release(barrier);
      sendJson(response, 200, barriers.state()[barrier]);
    } else throw new HttpError(404, `no such endpoint: ${request.method} ${path}`);
  };

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => sendError(response, error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    stats,
    requests: () => recorded,
    served: () => served,
    release: (barrier) => barriers.release(barrier),
    held: (barrier) => barriers.held(barrier),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT) throw new HttpError(413, `the request body is larger than ${BODY_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
