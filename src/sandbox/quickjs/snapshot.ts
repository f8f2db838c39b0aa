const PAGE = 4096;
const WORDS_PER_PAGE = PAGE / 8;
/** A run of zero bytes at least this long is the unused part of the C stack. */
const MIN_GAP_PAGES = (2 * 2 ** 20) / PAGE;
/** Zero-initialised static data may follow the last byte that is not zero; the C stack begins after it. */
const BSS_SLACK_PAGES = (128 * 2 ** 10) / PAGE;

/** A fresh interpreter lies wholly within this much memory (it needs 6 MB). */
const MAX_USED_PAGES = (16 * 2 ** 20) / PAGE;

interface Region {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/**
 * A copy of all of a WebAssembly instance's memory that is in use: static data and heap. Restoring it puts an instance
 * that has returned from every call back to the state it had, whatever ran since, at the price of copying a few
 * hundred kilobytes. The C stack, dead between calls, is left out: it
 * is recognised as the long run of zeros between static data and heap (if there is none, everything is copied).
 */
export class Snapshot {
  private constructor(private readonly regions: readonly Region[]) {}

  static take(buffer: ArrayBuffer): Snapshot {
    const words = new BigUint64Array(buffer);
    const pages = Math.min(words.length / WORDS_PER_PAGE, MAX_USED_PAGES);
    const used = (page: number): boolean => {
      for (let i = page * WORDS_PER_PAGE, end = i + WORDS_PER_PAGE; i < end; i++) if (words[i] !== 0n) return true;
      return false;
    };
    let top = pages;
    while (top > 0 && !used(top - 1)) top--;
    let gap = { start: 0, length: 0 };
    for (let page = 0, start = 0; page < top; page++) {
      if (used(page)) start = page + 1;
      else if (page + 1 - start > gap.length) gap = { start, length: page + 1 - start };
    }
    const copy = (from: number, to: number): Region => ({
      offset: from * PAGE,
      bytes: new Uint8Array(buffer).slice(from * PAGE, to * PAGE),
    });
    if (gap.length < MIN_GAP_PAGES) return new Snapshot([copy(0, top)]);
    return new Snapshot([copy(0, gap.start + BSS_SLACK_PAGES), copy(gap.start + gap.length, top)]);
  }

  get byteLength(): number {
    return this.regions.reduce((sum, region) => sum + region.bytes.length, 0);
  }

  /** Where the last byte ends that is put back. */
  get end(): number {
    return this.regions.reduce((end, { offset, bytes }) => Math.max(end, offset + bytes.length), 0);
  }

  /** Bytes of static data at the start of the memory, or 0 where they could not be told from the heap. */
  get staticBytes(): number {
    return this.regions.length > 1 ? (this.regions[0]?.bytes.length ?? 0) : 0;
  }

  restore(buffer: ArrayBuffer): void {
    const memory = new Uint8Array(buffer);
    for (const { offset, bytes } of this.regions) memory.set(bytes, offset);
  }
}
