/** Adds up wall-clock seconds by phase; for display and `timings.jsonl` only, never for logic. */
export class Stopwatch {
  private readonly seconds = new Map<string, number>();
  private phase = '';
  private since = performance.now();

  /** `onEnter` hears of every phase that begins. */
  constructor(private readonly onEnter: (phase: string) => void = () => {}) {}

  /** Ends the current phase and begins another. */
  enter(phase: string): void {
    const now = performance.now();
    if (this.phase !== '') this.seconds.set(this.phase, this.read(this.phase) + (now - this.since) / 1000);
    if (phase !== this.phase) this.onEnter(phase);
    this.phase = phase;
    this.since = now;
  }

  read(phase: string): number {
    return this.seconds.get(phase) ?? 0;
  }

  /** All phases so far, then starts again from zero in the current phase. */
  lap(): ReadonlyMap<string, number> {
    this.enter(this.phase);
    const seconds = new Map(this.seconds);
    this.seconds.clear();
    return seconds;
  }
}
