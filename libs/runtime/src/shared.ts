/** Keeps one object of all that are alike, for as long as anybody uses it: thousands of agents have the same few seats. */
export class Shared<T extends object> {
  private readonly known = new Map<string, WeakRef<T>>();
  private readonly unused = new FinalizationRegistry<string>((key) => {
    if (!this.known.get(key)?.deref()) this.known.delete(key);
  });

  /** The object that is like this one, of plain data that nobody changes; this one itself if there is none. */
  one(like: T): T {
    const key = JSON.stringify(like);
    const known = this.known.get(key)?.deref();
    if (known) return known;
    this.known.set(key, new WeakRef(like));
    this.unused.register(like, key);
    return like;
  }
}
