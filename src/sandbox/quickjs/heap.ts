/** The allocator takes memory in steps of this many bytes. */
const STEP = 4096;

/**
 * Tells how far a WebAssembly instance's heap has grown. The allocator of this build only ever moves the end of its
 * heap (the break) up, in steps of 4 KiB, so the break is also the high-water mark. The build exports no way to ask for
 * it; but it is one word of static data, and which one shows when the heap is made to grow.
 */
export class HeapGauge {
  private constructor(
    /** Index of the break in 32-bit words. */
    private readonly index: number,
    /** Where the heap starts. */
    private readonly base: number,
  ) {}

  /**
   * Finds the break among the first `staticBytes` of the memory: of the words that grow by the same number of steps
   * each time `allocate` is called, one is an address and the others (the allocator's own statistics) count from the
   * start of the heap. Returns undefined where no words look like that.
   */
  static find(buffer: ArrayBuffer, staticBytes: number, allocate: (bytes: number) => void): HeapGauge | undefined {
    const words = new Uint32Array(buffer, 0, staticBytes / 4);
    const states = [words.slice()];
    const sizes = [256 * STEP, 80 * STEP, 144 * STEP];
    for (const size of sizes) {
      allocate(size);
      states.push(words.slice());
    }
    const grew = (index: number): boolean =>
      sizes.every((size, i) => {
        const growth = (states[i + 1]?.[index] ?? 0) - (states[i]?.[index] ?? 0);
        return growth % STEP === 0 && Math.abs(growth - size) <= 16 * STEP;
      });
    const candidates = [...words.keys()].filter(grew).sort((a, b) => (words[a] ?? 0) - (words[b] ?? 0));
    const [least, most] = [candidates[0], candidates.at(-1)];
    if (least === undefined || most === undefined) return undefined;
    const base = (words[most] ?? 0) - (words[least] ?? 0);
    return base >= staticBytes ? new HeapGauge(most, base) : undefined;
  }

  /** Where the heap ends. */
  end(buffer: ArrayBuffer): number {
    return new Uint32Array(buffer, this.index * 4, 1)[0] ?? 0;
  }

  /** Bytes that the heap has grown to, the interpreter's own included. */
  size(buffer: ArrayBuffer): number {
    return this.end(buffer) - this.base;
  }
}
