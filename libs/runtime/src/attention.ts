/** Waits that anything worth noticing ends early. A call that comes while nobody waits is not lost. */
export class Attention {
  private called = false;
  private resolve: (() => void) | undefined;

  /** True: there was a call since the last reset. */
  get isCalled(): boolean {
    return this.called;
  }

  call(): void {
    this.called = true;
    this.resolve?.();
  }

  /** Forgets earlier calls: whoever looks now sees what they were about. */
  reset(): void {
    this.called = false;
  }

  /** Resolves when called, or when the time is over. */
  async within(ms: number): Promise<void> {
    if (this.called || ms <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.resolve = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.resolve = undefined;
  }
}
