import { readFile } from 'node:fs/promises';
import { type WasmMemory, wasm } from './wasm.js';

/** The scalars of one AdamW step; see `adamw` in adam.as.ts. All are rounded to float32. */
export interface AdamScalars {
  readonly scale: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly rest1: number;
  readonly rest2: number;
  readonly rate: number;
  readonly correction: number;
  readonly epsilon: number;
  readonly decay: number;
}

/** Arithmetic over float32 arrays in one memory. Offsets are bytes, multiples of 16; n counts floats, a multiple of 4. */
export interface Kernels {
  readonly accumulate: (target: number, source: number, n: number) => void;
  readonly sumOfSquares: (x: number, n: number) => number;
  /** Returns the largest |p| after the step, NaN where any is NaN. */
  readonly adamw: (p: number, g: number, m: number, v: number, n: number, scalars: AdamScalars) => number;
}

interface WasmExports {
  accumulate(target: number, source: number, n: number): void;
  sumOfSquares(x: number, n: number): number;
  adamw(...values: number[]): number;
}

/** The SIMD kernels; undefined where adam.wasm was not built (sources run without `scripts/build.mjs`). */
export async function wasmKernels(memory: WasmMemory): Promise<Kernels | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(new URL('./adam.wasm', import.meta.url));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const { instance } = await wasm.instantiate(bytes, { env: { memory } });
  const exported = instance.exports as WasmExports;
  return {
    accumulate: exported.accumulate,
    sumOfSquares: exported.sumOfSquares,
    adamw: (p, g, m, v, n, s) =>
      exported.adamw(
        p,
        g,
        m,
        v,
        n,
        s.scale,
        s.beta1,
        s.beta2,
        s.rest1,
        s.rest2,
        s.rate,
        s.correction,
        s.epsilon,
        s.decay,
      ),
  };
}

/** The same arithmetic in JavaScript, rounded to float32 after every operation, so that both give the same bits. */
export function scalarKernels(memory: WasmMemory): Kernels {
  const f32 = new Float32Array(memory.buffer);
  const round = Math.fround;
  return {
    accumulate(target, source, n) {
      const a = target >> 2;
      const b = source >> 2;
      for (let i = 0; i < n; i++) f32[a + i] = f32[a + i]! + f32[b + i]!;
    },
    sumOfSquares(x, n) {
      const at = x >> 2;
      const sums = [0, 0, 0, 0];
      for (let i = 0; i < n; i++) sums[i & 3]! += f32[at + i]! * f32[at + i]!;
      return sums[0]! + sums[1]! + (sums[2]! + sums[3]!);
    },
    adamw(p, g, m, v, n, scalars) {
      const [scale, beta1, beta2, rest1, rest2, rate, correction, epsilon, decay] = [
        scalars.scale,
        scalars.beta1,
        scalars.beta2,
        scalars.rest1,
        scalars.rest2,
        scalars.rate,
        scalars.correction,
        scalars.epsilon,
        scalars.decay,
      ].map(round) as [number, number, number, number, number, number, number, number, number];
      const [pAt, gAt, mAt, vAt] = [p >> 2, g >> 2, m >> 2, v >> 2];
      let largest = 0;
      for (let i = 0; i < n; i++) {
        const gi = round(f32[gAt + i]! * scale);
        const pi = f32[pAt + i]!;
        const mi = round(round(beta1 * f32[mAt + i]!) + round(rest1 * gi));
        const vi = round(round(beta2 * f32[vAt + i]!) + round(round(rest2 * gi) * gi));
        f32[mAt + i] = mi;
        f32[vAt + i] = vi;
        const root = round(round(Math.sqrt(round(vi * correction))) + epsilon);
        const kept = round(pi - round(decay * pi));
        const next = round(kept - round(round(rate * mi) / root));
        f32[pAt + i] = next;
        largest = Math.max(largest, Math.abs(next));
      }
      return largest;
    },
  };
}
