import type { Hold } from './rule';

/** How often a barrier opened and why; `waiting` is the number of requests held now. */
export interface BarrierState {
  waiting: number;
  /** Times that all its parties were there together. */
  filled: number;
  timedOut: number;
  /** Released barriers stay open. */
  released: boolean;
}

interface Barrier extends Omit<BarrierState, 'waiting'> {
  held: Set<() => void>;
  arrivals: Set<() => void>;
}

/** Named points at which answers are held. */
export class Barriers {
  private readonly barriers = new Map<string, Barrier>();

  /** Resolves when the barrier fills, is released, or after the hold's timeout; at once when `signal` aborts. */
  async pass(hold: Hold, signal: AbortSignal): Promise<void> {
    const barrier = this.find(hold.name);
    if (barrier.released || signal.aborted) return;
    await new Promise<void>((open) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        barrier.held.delete(leave);
        open();
      };
      const timer = setTimeout(() => {
        barrier.timedOut += 1;
        leave();
      }, hold.timeoutMs);
      signal.addEventListener('abort', leave);
      barrier.held.add(leave);
      for (const arrived of barrier.arrivals) arrived();
      barrier.arrivals.clear();
      if (barrier.held.size >= (hold.parties ?? Number.POSITIVE_INFINITY)) {
        barrier.filled += 1;
        openAll(barrier);
      }
    });
  }

  /** Lets everybody go who waits here, and everybody who comes later. */
  release(name: string): void {
    const barrier = this.find(name);
    barrier.released = true;
    openAll(barrier);
  }

  /** Resolves as soon as a request is held at the barrier. */
  async held(name: string): Promise<void> {
    const barrier = this.find(name);
    if (barrier.held.size === 0) await new Promise<void>((arrived) => barrier.arrivals.add(arrived));
  }

  state(): Record<string, BarrierState> {
    return Object.fromEntries(
      [...this.barriers].map(([name, { held, filled, timedOut, released }]) => [
        name,
        { waiting: held.size, filled, timedOut, released },
      ]),
    );
  }

  private find(name: string): Barrier {
    const barrier = this.barriers.get(name) ?? {
      held: new Set(),
      arrivals: new Set(),
      filled: 0,
      timedOut: 0,
      released: false,
    };
    this.barriers.set(name, barrier);
    return barrier;
  }
}

function openAll(barrier: Barrier): void {
  for (const leave of [...barrier.held]) leave();
}
