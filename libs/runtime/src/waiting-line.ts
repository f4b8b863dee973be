/**
 * Things that each wait for the same time, in the order in which they came: the first is always the next whose time is
 * over, so one timer serves all.
 */
export class WaitingLine<T extends object> {
  private readonly since = new Map<T, number>();
  private timer: NodeJS.Timeout | undefined;

  /** `onOver` is told of each thing whose time is over; it waits no longer then. */
  constructor(
    private readonly ms: number,
    private readonly onOver: (thing: T) => void,
  ) {}

  get size(): number {
    return this.since.size;
  }

  /** The one that waits longest. */
  get first(): T | undefined {
    return this.since.keys().next().value;
  }

  add(thing: T): void {
    this.since.set(thing, Math.floor(performance.now()));
    this.arm();
  }

  /** False: it did not wait. */
  delete(thing: T): boolean {
    const hasWaited = this.since.delete(thing);
    if (this.since.size === 0) this.disarm();
    return hasWaited;
  }

  private arm(): void {
    const [next] = this.since.values();
    if (next === undefined || this.timer) return;
    this.timer = setTimeout(() => this.expire(), next + this.ms - performance.now());
  }

  private disarm(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private expire(): void {
    this.timer = undefined;
    const now = performance.now();
    for (const [thing, since] of this.since) {
      if (since + this.ms > now) break;
      this.since.delete(thing);
      this.onOver(thing);
    }
    this.arm();
  }
}
