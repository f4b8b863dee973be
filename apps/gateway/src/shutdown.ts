/** Tells those who wait or stream that the process is about to end. */
export class Shutdown {
  private readonly listeners = new Set<() => void>();
  private begun = false;

  get isStopping(): boolean {
    return this.begun;
  }

  begin(): void {
    this.begun = true;
    for (const listener of this.listeners) listener();
  }

  /** Calls the listener once, at the latest now if it has begun; the returned function forgets it. */
  onStop(listener: () => void): () => void {
    if (this.begun) listener();
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
