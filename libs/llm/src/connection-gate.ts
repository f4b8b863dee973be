/** At most `size` holders at a time; the others wait in the order in which they came. */
export class ConnectionGate {
  private readonly waiting = new Set<() => void>();

  constructor(private free: number) {}

  /** Resolves when a place is free; rejects with the signal's reason when aborted before. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const admit = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.waiting.delete(admit);
        reject(signal.reason);
      };
      this.waiting.add(admit);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Gives a place back, straight to whoever has waited longest. */
  leave(): void {
    const [next] = this.waiting;
    if (!next) {
      this.free++;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
