import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from '@mailroom/hosting';
import { pino } from 'pino';
import { type GatewayConfig, readConfig } from '../config';
import { createGateway } from '../create-gateway';
import { OpenStream } from './open-stream';

export interface HarnessOptions {
  redis: { url: string; prefix: string };
  modelUrl: string;
  /** File name → content of the agents folder. */
  agents?: Record<string, string>;
  env?: Record<string, string>;
  config?: Partial<GatewayConfig>;
}

/** An answer of the gateway; `body` is its JSON, or undefined. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

const AGENTS = {
  'solo.md': '---\ndescription: works alone\n---\nYou answer.',
  'boss.md': '---\ndescription: leads\nsubAgents: [alice]\n---\nYou lead.',
  'alice.md': '---\ndescription: helps\n---\nYou help.',
  'retired.md': '---\ndescription: gone\nstatus: INACTIVE\n---\nYou rest.',
};

/** A gateway with its HTTP server on a free port, and agents in a folder of its own. */
export class GatewayHarness {
  private constructor(
    private readonly service: Service,
    private readonly folder: string,
  ) {}

  static async start({
    redis,
    modelUrl,
    agents = AGENTS,
    env = {},
    config = {},
  }: HarnessOptions): Promise<GatewayHarness> {
    const folder = await mkdtemp(join(tmpdir(), 'agents-'));
    for (const [name, text] of Object.entries(agents)) await writeFile(join(folder, name), text);
    const settings = readConfig({
      PORT: '0',
      REDIS_URL: redis.url,
      REDIS_PREFIX: redis.prefix,
      OPENAI_BASE_URL: modelUrl,
      AGENTS_DIR: folder,
      SWEEP_MS: '200',
      ...env,
    });
    try {
      const service = await createGateway({ ...settings, ...config }, pino({ level: 'silent' }));
      return new GatewayHarness(service, folder);
    } catch (error) {
      await rm(folder, { recursive: true });
      throw error;
    }
  }

  get url(): string {
    return this.service.url;
  }

  /** Sends JSON; a string goes as it is. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined };
  }

  /** Opens an event stream and reads it until the caller closes it. */
  async stream(path: string, headers: Record<string, string> = {}): Promise<OpenStream> {
    const leave = new AbortController();
    const response = await fetch(`${this.url}${path}`, { headers, signal: leave.signal });
    return new OpenStream(response, leave);
  }

  async close(): Promise<void> {
    await this.service.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
