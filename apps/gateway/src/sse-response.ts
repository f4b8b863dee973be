import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { SessionEvent } from '@mailroom/contracts';

export interface SseOptions {
  /** Silence before a comment is sent. */
  pingMs: number;
  /** How long a client may leave its events unread before it is cut off; it can resume where it was. Default 30 s. */
  stallMs?: number;
  /** Called with every comment. */
  onPing?: () => void;
}

/**
 * One event stream to one client. Writes wait for the client, so that a slow one fills no memory here; in silence there
 * are comments, which keep proxies from cutting the connection. After `left` nothing is written any more.
 */
export class SseResponse {
  private readonly ping: NodeJS.Timeout;

  /** Sends the headers at once. */
  constructor(
    private readonly response: ServerResponse,
    private readonly left: AbortSignal,
    private readonly options: SseOptions,
  ) {
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
    response.socket?.setNoDelay(true);
    response.write('retry: 1000\n\n');
    this.ping = setInterval(() => {
      if (!response.writableNeedDrain) response.write(': ping\n\n');
      options.onPing?.();
    }, options.pingMs);
  }

  /** JSON has no line ends and ids and codes come from a fixed set, so no content can forge an event. */
  async write(event: SessionEvent): Promise<void> {
    if (this.left.aborted) return;
    this.ping.refresh();
    if (!this.response.write(`id: ${event.id}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`))
      await this.drained();
  }

  end(): void {
    clearInterval(this.ping);
    this.response.end();
  }

  private async drained(): Promise<void> {
    const stalled = setTimeout(() => this.response.destroy(), this.options.stallMs ?? 30_000);
    try {
      await once(this.response, 'drain', { signal: this.left });
    } catch (error) {
      if (!this.left.aborted) throw error;
    } finally {
      clearTimeout(stalled);
    }
  }
}
