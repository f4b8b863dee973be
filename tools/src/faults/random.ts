/** Random numbers that a seed repeats. */
export class Random {
  private state: number;

  /** The same seed and name give the same numbers. */
  constructor(
    private readonly seed: number,
    name = '',
  ) {
    this.state = seed >>> 0;
    for (const char of name) this.state = Math.imul(this.state ^ char.charCodeAt(0), 0x01000193) >>> 0;
  }

  /** An independent source for one purpose, so that one more number drawn here moves nothing there. */
  named(name: string): Random {
    return new Random(this.seed, `${this.state}/${name}`);
  }

  /** At least 0, below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `min` to `max`. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the list, which is not empty. */
  pick<T>(list: readonly T[]): T {
    const picked = list[this.whole(0, list.length - 1)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }
}
