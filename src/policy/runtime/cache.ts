import type { DecoderConfig } from '../model/config.js';

/**
 * Keys and values of a batch of sequences, per layer, time-major: [columns, rows, kvHeads·D]. Prompts end at the same
 * column, so every sequence appends to the same one and the past of the whole batch is one contiguous view.
 */
export class KeyValueCache {
  /** Columns in use: [first, end). Columns before `first` are padding for every row. */
  first = 0;
  end: number;
  rows: number;
  private readonly width: number;
  private readonly buffers: readonly Float32Array[];

  constructor(
    config: DecoderConfig,
    rows: number,
    /** Length of the longest prompt. */
    promptColumns: number,
    capacity: number,
    pool: BufferPool,
  ) {
    this.rows = rows;
    this.end = promptColumns;
    this.width = config.num_key_value_heads * config.head_dim;
    const size = capacity * rows * this.width;
    // Keys of all layers, then values of all layers.
    this.buffers = Array.from({ length: 2 * config.num_hidden_layers }, (_, i) => pool.take(i, size));
  }

  /** The past of one buffer, [end − first, rows·kvHeads, D] flattened; a view, never a copy. */
  past(buffer: number): Float32Array {
    const stride = this.rows * this.width;
    return this.buffer(buffer).subarray(this.first * stride, this.end * stride);
  }

  /**
   * Fills a row with a prompt of `length` tokens that a prefill of [T, batch] computed as its member `b`. The padding
   * before it becomes zero: its weight in attention is 0, and 0 times a stale NaN would be NaN.
   */
  fill(buffer: number, row: number, source: Float32Array, batch: number, b: number, length: number): void {
    const { width, rows } = this;
    const target = this.buffer(buffer);
    const padding = this.end - length;
    for (let t = 0; t < padding; t++) target.fill(0, (t * rows + row) * width, (t * rows + row + 1) * width);
    for (let t = 0; t < length; t++) {
      const from = (t * batch + b) * width;
      target.set(source.subarray(from, from + width), ((padding + t) * rows + row) * width);
    }
  }

  /** Writes the new column of one buffer; call {@link advance} after the last. */
  append(buffer: number, column: Float32Array): void {
    this.buffer(buffer).set(column, this.end * this.rows * this.width);
  }

  advance(): void {
    this.end++;
  }

  /** Keeps the given rows (ascending) and drops the columns before `first`. */
  keep(rows: readonly number[], first: number): void {
    const { width } = this;
    const runs = runsOf(rows);
    for (const buffer of this.buffers) {
      for (let t = first; t < this.end; t++) {
        // In place: each target lies at or before its source, and they advance together.
        for (const { from, to, count } of runs) {
          const source = (t * this.rows + from) * width;
          buffer.copyWithin((t * rows.length + to) * width, source, source + count * width);
        }
      }
    }
    this.first = first;
    this.rows = rows.length;
  }

  private buffer(i: number): Float32Array {
    const buffer = this.buffers[i];
    if (buffer === undefined) throw new RangeError(`no cache buffer ${i}`);
    return buffer;
  }
}

/** Consecutive rows move together. */
function runsOf(rows: readonly number[]): { from: number; to: number; count: number }[] {
  const runs: { from: number; to: number; count: number }[] = [];
  rows.forEach((row, i) => {
    const last = runs.at(-1);
    if (last !== undefined && last.from + last.count === row) last.count++;
    else runs.push({ from: row, to: i, count: 1 });
  });
  return runs;
}

/** Keeps cache buffers from one batch to the next, so that the operating system need not clear fresh pages each time. */
export class BufferPool {
  private readonly buffers: Float32Array[] = [];

  take(slot: number, size: number): Float32Array {
    const known = this.buffers[slot];
    if (known !== undefined && known.length >= size) return known;
    const fresh = new Float32Array(size);
    this.buffers[slot] = fresh;
    return fresh;
  }
}
