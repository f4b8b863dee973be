import { AppError, isSettled, type Run } from '@mailroom/contracts';
import type { HostNode } from '@mailroom/hosting';
import type { Shutdown } from './shutdown';

/** Which run of which session. */
export interface RunAddress {
  space: string;
  sessionId: string;
  runId: string;
}

/** Waits for the end of runs, woken when one of the session settles. */
export class RunWaiter {
  constructor(
    private readonly node: HostNode,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * The run when it has settled; as it is when the time is over, the caller has left or the process stops.
   * Throws `not_found`.
   */
  async settled({ space, sessionId, runId }: RunAddress, waitMs: number, left: AbortSignal): Promise<Run> {
    const bell = new Bell();
    let isOver = left.aborted;
    const end = () => {
      isOver = true;
      bell.ring();
    };
    const timer = setTimeout(end, waitMs);
    const forget = this.shutdown.onStop(end);
    left.addEventListener('abort', end, { once: true });
    if (isOver) bell.ring();
    // Not awaited, since it takes as long as Redis is away; what happened before it stands is seen by the look after it.
    const listening = this.node.notifications.onSettled(sessionId, () => bell.ring());
    listening.then(() => bell.ring(), end);
    try {
      for (;;) {
        await bell.rung();
        const run = await this.node.requests.sessions.run(space, sessionId, runId);
        if (!run) throw new AppError('not_found', `there is no run "${runId}"`);
        if (isOver || isSettled(run.status)) return run;
      }
    } finally {
      clearTimeout(timer);
      forget();
      left.removeEventListener('abort', end);
      listening.then(
        (stop) => stop(),
        () => undefined,
      );
    }
  }
}

/** Rings that nobody awaited count as one. */
class Bell {
  private hasRung = false;
  private wake: (() => void) | undefined;

  ring(): void {
    this.hasRung = true;
    this.wake?.();
  }

  async rung(): Promise<void> {
    if (!this.hasRung)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    this.hasRung = false;
  }
}
