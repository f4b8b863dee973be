/** Waits that anything worth noticing ends early. A call that comes while nobody waits is not lost. */
export class Attention {
  private isCalled = false;
  private resolve: (() => void) | undefined;

  call(): void {
    this.isCalled = true;
    this.resolve?.();
  }

  /** Forgets earlier calls: whoever looks now sees what they were about. */
  reset(): void {
    this.isCalled = false;
  }

  /** True: called before the time was over. */
  async within(ms: number): Promise<boolean> {
    if (!this.isCalled && ms > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
      this.resolve = undefined;
    }
    return this.isCalled;
  }
}
