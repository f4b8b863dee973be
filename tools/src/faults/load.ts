import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientHistory } from './client-history';
import { EventReader } from './event-reader';
import type { Random } from './random';

/** How long people try again. */
const PATIENCE_MS = 60_000;

/** Sessions whose lead writes to its team, and some whose lead calls it as tools. */
export const LEADS = ['chief', 'captain', 'chief'];

export interface LoadOptions {
  sessions: number;
  /** The sessions begin evenly over this time. */
  overMs: number;
  /** What the user asks for; words in it change what the team does. */
  input?: (index: number) => string;
  /** The leads of the sessions, in turn. */
  leads?: readonly string[];
  /** The probability that the user writes again while the run is on. */
  steering?: number;
  /** The probability, per event, that a reader leaves and comes back at another gateway. */
  wandering?: number;
}

export interface LoadDeps {
  /** The gateways' origins. */
  urls: readonly string[];
  history: ClientHistory;
  random: Random;
  /** Begins the keys of requests; unique per load. */
  name: string;
}

/** A user with one session: what was accepted, and what is over. */
export class LoadSession {
  id: string | undefined;
  readonly runs = new Set<string>();
  readonly done = new Set<string>();

  get isDone(): boolean {
    return this.runs.size > 0 && [...this.runs].every((run) => this.done.has(run));
  }
}

/** People who open sessions, write, and read events, and try again wherever something fails. */
export class Load {
  readonly sessions: LoadSession[];
  private readonly stopping = new AbortController();
  private readonly work: Promise<void>;

  constructor(
    private readonly deps: LoadDeps,
    private readonly options: LoadOptions,
  ) {
    setMaxListeners(0, this.stopping.signal);
    this.sessions = Array.from({ length: options.sessions }, () => new LoadSession());
    this.work = Promise.all(this.sessions.map((session, index) => this.play(session, index))).then(() => undefined);
  }

  /** Those that were opened. */
  get ids(): string[] {
    return this.sessions.flatMap(({ id }) => id ?? []);
  }

  get unfinished(): LoadSession[] {
    return this.sessions.filter(({ isDone }) => !isDone);
  }

  /** Resolves when all inputs have been accepted. */
  async accepted(): Promise<void> {
    while (this.sessions.some(({ runs }) => runs.size === 0)) await sleep(20);
  }

  /** Waits until every run has ended, at most so long; ends all clients. */
  async settle(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (this.unfinished.length > 0 && performance.now() < end) await sleep(50);
    this.stopping.abort();
    await this.work;
  }

  /** Ends the sessions as their users would. */
  async close(): Promise<void> {
    await Promise.all(this.ids.map((id) => this.ask('DELETE', `/api/v1/sessions/${id}`, { key: id })));
  }

  private async play(session: LoadSession, index: number): Promise<void> {
    const { name, random } = this.deps;
    const own = random.named(`${name}-${index}`);
    const {
      sessions,
      overMs,
      input = () => 'Do it.',
      leads = ['chief'],
      steering = 0.25,
      wandering = 0.02,
    } = this.options;
    const { signal } = this.stopping;
    await sleep((overMs * index) / Math.max(1, sessions), undefined, { signal }).catch(() => undefined);
    const key = `${name}-${index}`;
    const opened = await this.ask('POST', '/api/v1/sessions', {
      key,
      body: { leadAgentId: leads[index % leads.length], input: `${input(index)} (${key})` },
    });
    if (!opened) return;
    session.id = String(opened.id);
    const run = opened.run as { id: string };
    session.runs.add(run.id);
    this.deps.history.write('accepted', { sessionId: session.id, runId: run.id, key });
    const steers = own.chance(steering) ? this.steer(session, own, key) : undefined;
    const reader = new EventReader(this.deps, session, { random: own, wandering });
    await Promise.all([reader.readUntilDone(signal), steers]);
    // The second input may have come after the end of the first run.
    await reader.readUntilDone(signal);
  }

  private async steer(session: LoadSession, own: Random, key: string): Promise<void> {
    const { signal } = this.stopping;
    await sleep(own.whole(50, 1_500), undefined, { signal }).catch(() => undefined);
    if (signal.aborted || session.isDone) return;
    const path = `/api/v1/sessions/${session.id}/messages`;
    const posted = await this.ask('POST', path, { key: `${key}-more`, body: { content: 'And more of it.' } });
    if (!posted) return;
    session.runs.add(String(posted.runId));
    const { msgId, runId } = posted;
    this.deps.history.write('accepted', { sessionId: session.id, runId, msgId, key: `${key}-more` });
  }

  /** Asks any gateway until one accepts; undefined when the load ends before. */
  private async ask(
    method: string,
    path: string,
    { key, body }: { key: string; body?: object },
  ): Promise<Record<string, unknown> | undefined> {
    const { urls, history, random } = this.deps;
    const end = performance.now() + PATIENCE_MS;
    let last = '';
    for (;;) {
      const url = random.pick(urls);
      try {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: { 'content-type': 'application/json', 'idempotency-key': key },
          body: body ? JSON.stringify(body) : null,
          signal: AbortSignal.timeout(4_000),
        });
        const text = await response.text();
        if (response.ok) return text === '' ? {} : JSON.parse(text);
        last = `${response.status} ${text}`;
        history.write('refused', { key, status: response.status, path });
        if (response.status < 500 && response.status !== 429) throw new Refused(`${path}: ${response.status} ${text}`);
      } catch (error) {
        if (error instanceof Refused) throw error;
        last = String(error);
      }
      if (this.stopping.signal.aborted && method !== 'DELETE') return undefined;
      if (performance.now() > end) throw new Error(`${method} ${path} was not accepted in a minute: ${last}`);
      await sleep(60);
    }
  }
}

class Refused extends Error {}
