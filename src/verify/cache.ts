/**
 * The last `capacity` results by key; concurrent requests for one key share one computation. A result that `keep`
 * refuses reaches everyone who is waiting for it, and is computed anew for the next.
 */
export class Cache<T> {
  private readonly settled = new Map<string, T>();
  private readonly running = new Map<string, Promise<T>>();

  constructor(
    private readonly capacity: number,
    private readonly keep: (value: T) => boolean,
  ) {}

  async get(key: string, compute: () => Promise<T>): Promise<{ readonly value: T; readonly hit: boolean }> {
    const known = this.settled.get(key);
    if (known !== undefined) {
      this.settled.delete(key);
      this.settled.set(key, known);
      return { value: known, hit: true };
    }
    const shared = this.running.get(key);
    if (shared) return { value: await shared, hit: true };
    const computing = compute();
    this.running.set(key, computing);
    try {
      const value = await computing;
      if (this.capacity > 0 && this.keep(value)) {
        this.settled.set(key, value);
        if (this.settled.size > this.capacity) this.settled.delete(this.settled.keys().next().value as string);
      }
      return { value, hit: false };
    } finally {
      this.running.delete(key);
    }
  }
}
