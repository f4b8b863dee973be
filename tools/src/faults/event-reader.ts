import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionEvent } from '@mailroom/contracts';
import { createParser } from 'eventsource-parser';
import type { ClientHistory } from './client-history';
import type { Random } from './random';

/** What a reader needs of the session that it reads, and tells it. */
export interface Readable {
  id: string | undefined;
  readonly done: Set<string>;
  readonly isDone: boolean;
}

export interface ReaderDeps {
  urls: readonly string[];
  history: ClientHistory;
}

/** A client of one session's event stream. It comes back after every loss, at any gateway, with the last id it has. */
export class EventReader {
  private last = '';

  constructor(
    private readonly deps: ReaderDeps,
    private readonly session: Readable,
    private readonly habits: { random: Random; wandering: number },
  ) {}

  /** Reads until all runs are done, or the signal aborts; never throws for what a gateway does. */
  async readUntilDone(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.session.isDone) {
      const leave = new AbortController();
      try {
        await this.read(leave, AbortSignal.any([signal, leave.signal]));
      } catch {
        await sleep(50);
      } finally {
        leave.abort();
      }
    }
  }

  private async read(leave: AbortController, signal: AbortSignal): Promise<void> {
    const url = this.habits.random.pick(this.deps.urls);
    const response = await fetch(`${url}/api/v1/sessions/${this.session.id}/events`, {
      headers: { accept: 'text/event-stream', ...(this.last && { 'last-event-id': this.last }) },
      signal,
    });
    if (!response.ok) throw new Error(`${response.status}`);
    const parser = createParser({ onEvent: ({ data }) => this.take(JSON.parse(data), leave) });
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      parser.feed(decoder.decode(piece as Uint8Array, { stream: true }));
      if (this.session.isDone || leave.signal.aborted) return;
    }
  }

  private take(event: SessionEvent, leave: AbortController): void {
    // What comes in the same piece after the decision to leave was never read.
    if (leave.signal.aborted) return;
    const { random, wandering } = this.habits;
    const { id, event: code, runId } = event;
    this.deps.history.write('event', {
      sessionId: this.session.id,
      id,
      event: code,
      ...(code === 'done' && { runId }),
    });
    this.last = code === 'reset' ? '' : id;
    if (code === 'done' && runId) this.session.done.add(runId);
    if (random.chance(wandering)) leave.abort();
  }
}
