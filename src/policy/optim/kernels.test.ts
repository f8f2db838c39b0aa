import { expect, test } from 'vitest';
import { stream } from '../../core/seeds.js';
import { type Kernels, scalarKernels, wasmKernels } from './kernels.js';
import { type WasmMemory, wasm } from './wasm.js';

const N = 64;
const memoryWithNumbers = (): WasmMemory => {
  const memory = new wasm.Memory({ initial: 1, maximum: 1 });
  const random = stream(2, 'kernels');
  const floats = new Float32Array(memory.buffer, 0, 4 * N);
  // The second moment, the fourth part, is never negative.
  for (let i = 0; i < floats.length; i++) floats[i] = i < 3 * N ? random.normal() : random.next();
  return memory;
};
const exercise = (kernels: Kernels, memory: WasmMemory): { bits: number[]; largest: number; sum: number } => {
  const scalars = {
    scale: 0.7,
    beta1: 0.9,
    beta2: 0.999,
    rest1: 0.1,
    rest2: 1 - 0.999,
    rate: 3e-4 / (1 - 0.9 ** 3),
    correction: 1 / (1 - 0.999 ** 3),
    epsilon: 1e-8,
    decay: 1e-3,
  };
  kernels.accumulate(4 * N, 0, N);
  let largest = 0;
  for (let step = 0; step < 3; step++) largest = kernels.adamw(0, 4 * N, 8 * N, 12 * N, N, scalars);
  expect(largest).toBe(Math.max(...new Float32Array(memory.buffer, 0, N).map(Math.abs)));
  return { bits: [...new Uint32Array(memory.buffer, 0, 4 * N)], largest, sum: kernels.sumOfSquares(0, 4 * N) };
};

test('the SIMD kernels and their JavaScript counterparts give the same bits', async () => {
  const simdMemory = memoryWithNumbers();
  const simd = await wasmKernels(simdMemory);
  if (simd === undefined) throw new Error('adam.wasm is missing: build with scripts/build.mjs');
  const scalarMemory = memoryWithNumbers();
  expect(exercise(simd, simdMemory)).toEqual(exercise(scalarKernels(scalarMemory), scalarMemory));
});

test('the sum of squares does not overflow where float32 would', async () => {
  const memory = new wasm.Memory({ initial: 1, maximum: 1 });
  new Float32Array(memory.buffer, 0, 8).fill(1e30);
  for (const kernels of [await wasmKernels(memory), scalarKernels(memory)]) {
    expect(Math.abs(kernels!.sumOfSquares(0, 8) / 8e60 - 1)).toBeLessThan(1e-6);
  }
});

test.each([0, 1, 2, 3, 9])('a parameter that becomes NaN at place %i is told', async (place) => {
  const scalars = { scale: 1, beta1: 0, beta2: 0, rest1: 1, rest2: 1, rate: 1, correction: 1, epsilon: 1, decay: 0 };
  const memory = memoryWithNumbers();
  for (const kernels of [await wasmKernels(memory), scalarKernels(memory)]) {
    new Float32Array(memory.buffer, 0, N).fill(0).fill(Number.NaN, place, place + 1);
    expect(kernels!.adamw(0, 4 * N, 8 * N, 12 * N, N, scalars)).toBeNaN();
  }
});
