import type { ServerResponse } from 'node:http';
import type { SessionEvent } from '@mailroom/contracts';
import type { HostNode } from '@mailroom/hosting';
import type { Shutdown } from './shutdown';
import { SseResponse } from './sse-response';

/** Which events to send to a client. */
export interface EventRequest {
  space: string;
  sessionId: string;
  /** The id of the last event that the client has; empty for the beginning. */
  after: string;
  wants: (event: SessionEvent) => boolean;
}

/** After these a session may have ended. */
const LAST_CODES: readonly string[] = ['done', 'ax'];

/** Sends events to a client until it leaves, the process stops, or the session has ended and all was sent. */
export class EventStream {
  constructor(
    private readonly node: HostNode,
    private readonly shutdown: Shutdown,
    private readonly pingMs: number,
  ) {}

  async send(
    { space, sessionId, after, wants }: EventRequest,
    response: ServerResponse,
    left: AbortSignal,
  ): Promise<void> {
    if (left.aborted) return;
    const following = new AbortController();
    const stop = () => following.abort();
    const look = () => this.endWhenClosed(space, sessionId, stop);
    left.addEventListener('abort', stop, { once: true });
    const forget = this.shutdown.onStop(stop);
    const sse = new SseResponse(response, left, { pingMs: this.pingMs, onPing: look });
    let cursor = after;
    const pass = async (event: SessionEvent) => {
      cursor = event.id;
      if (!wants(event)) return;
      this.node.probe.pass('before', 'sse');
      await sse.write(event);
      this.node.probe.pass('after', 'sse');
    };
    try {
      look();
      for await (const event of this.node.liveEvents.follow(sessionId, after, following.signal)) {
        await pass(event);
        if (LAST_CODES.includes(event.event)) look();
      }
      while (!left.aborted && !this.shutdown.isStopping) {
        const rest = await this.node.liveEvents.read(sessionId, cursor);
        for (const event of rest) await pass(event);
        if (rest.length === 0) break;
      }
    } finally {
      left.removeEventListener('abort', stop);
      forget();
      sse.end();
    }
  }

  /** Nothing comes after the script that closed a session: what is in its stream then is all. */
  private endWhenClosed(space: string, sessionId: string, end: () => void): void {
    this.node.requests.sessions.summary(space, sessionId).then(
      (session) => {
        if (session?.status !== 'open') end();
      },
      // Redis is away: the next look tells.
      () => undefined,
    );
  }
}
