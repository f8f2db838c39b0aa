import type { DecoderConfig } from '../model/config.js';

/**
 * Keys and values of a batch, per layer, time-major: [columns, rows, kvHeads·D]. The columns in use are then one
 * contiguous view, whatever room is left after them.
 */
export class KeyValueCache {
  private readonly width: number;
  /** Keys of all layers, then values of all layers. */
  private readonly buffers: Float32Array[];

  constructor(
    config: DecoderConfig,
    public rows: number,
    /** Columns in use. */
    public columns: number,
    capacity: number,
    private readonly pool: BufferPool,
  ) {
    this.width = config.num_key_value_heads * config.head_dim;
    const size = capacity * rows * this.width;
    this.buffers = Array.from({ length: 2 * config.num_hidden_layers }, () => pool.take(size));
  }

  /** The columns in use of one buffer, [columns, rows·kvHeads, D] flattened; a view, never a copy. */
  view(buffer: number): Float32Array {
    return this.buffer(buffer).subarray(0, this.columns * this.rows * this.width);
  }

  /**
   * Copies columns [from, to) of member `b` of a prefill's output [T, batch] to the start of a row. The rest of the row
   * becomes zero: its weight in attention is 0, and 0 times a stale NaN would be NaN.
   */
  fill(buffer: number, row: number, source: Float32Array, batch: number, b: number, from: number, to: number): void {
    const { width, rows } = this;
    const target = this.buffer(buffer);
    for (let t = 0; t < this.columns; t++) {
      const at = (t * rows + row) * width;
      const read = ((from + t) * batch + b) * width;
      if (from + t < to) target.set(source.subarray(read, read + width), at);
      else target.fill(0, at, at + width);
    }
  }

  /** Writes the next column of one buffer; call {@link advance} after the last. */
  append(buffer: number, column: Float32Array): void {
    this.buffer(buffer).set(column, this.columns * this.rows * this.width);
  }

  advance(): void {
    this.columns++;
  }

  /** New row i becomes a copy of old row `sources[i]`, or zero where that is undefined; keeps `columns` columns. */
  rearrange(sources: readonly (number | undefined)[], columns: number): void {
    const { width } = this;
    for (const [i, old] of this.buffers.entries()) {
      const next = this.pool.take(Math.max(old.length, sources.length * columns * width));
      let at = 0;
      for (let t = 0; t < columns; t++) {
        for (const source of sources) {
          if (source === undefined) next.fill(0, at, at + width);
          else {
            const from = (t * this.rows + source) * width;
            next.set(old.subarray(from, from + width), at);
          }
          at += width;
        }
      }
      this.buffers[i] = next;
      this.pool.give(old);
    }
    this.rows = sources.length;
    this.columns = columns;
  }

  /** Hands the buffers back; the cache must not be used after. */
  release(): void {
    for (const buffer of this.buffers.splice(0)) this.pool.give(buffer);
  }

  private buffer(i: number): Float32Array {
    const buffer = this.buffers[i];
    if (buffer === undefined) throw new RangeError(`no cache buffer ${i}`);
    return buffer;
  }
}

/** Keeps cache buffers from one batch to the next, so that the operating system need not clear fresh pages each time. */
export class BufferPool {
  private readonly free: Float32Array[] = [];

  /** The smallest free buffer of at least `size` floats, or a new one. Its contents are arbitrary. */
  take(size: number): Float32Array {
    let best = -1;
    this.free.forEach((buffer, i) => {
      if (buffer.length >= size && (best < 0 || buffer.length < (this.free[best]?.length ?? 0))) best = i;
    });
    const [known] = best < 0 ? [] : this.free.splice(best, 1);
    if (known !== undefined) return known;
    // What is free was too small and would lie there unused.
    this.free.length = 0;
    return new Float32Array(size);
  }

  give(buffer: Float32Array): void {
    this.free.push(buffer);
  }
}
