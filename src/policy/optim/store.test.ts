import { expect, test } from 'vitest';
import { stream } from '../../core/seeds.js';
import { OPTIMISER } from '../models.testing.js';
import { ParameterStore } from './store.js';

// Sizes that are not multiples of the SIMD width.
const SPECS = [
  { name: 'matrix', shape: [3, 5] },
  { name: 'gain', shape: [7] },
];
const numbers = (n: number, ...name: string[]): Float32Array => {
  const random = stream(4, ...name);
  return Float32Array.from({ length: n }, () => random.normal());
};

test('AdamW follows the published algorithm, with decay on matrices only', async () => {
  const store = await ParameterStore.create(SPECS);
  expect(store.parameterCount).toBe(22);
  const settings = { ...OPTIMISER, maxGradNorm: 1.5 };
  const reference = SPECS.map(({ name, shape }) => {
    const p = numbers(
      shape.reduce((a, b) => a * b),
      name,
      'p',
    );
    store.view('p', name).set(p);
    return { name, decays: shape.length === 2, p: [...p], m: p.map(() => 0), v: p.map(() => 0) };
  });
  for (let t = 1; t <= 4; t++) {
    const gradients = reference.map(({ name, p }) => [
      numbers(p.length, name, `a${t}`),
      numbers(p.length, name, `b${t}`),
    ]);
    store.clearGradients();
    reference.forEach(({ name }, i) => {
      for (const part of gradients[i]!) store.accumulate(name, part);
    });
    const norm = store.step(settings);
    const sums = gradients.map(([a, b]) => [...a!].map((x, j) => x + b![j]!));
    expect(norm).toBeCloseTo(Math.hypot(...sums.flat()), 4);
    const scale = Math.min(1, settings.maxGradNorm / norm);
    reference.forEach(({ p, m, v, decays }, i) => {
      sums[i]!.forEach((sum, j) => {
        const g = sum * scale;
        m[j] = 0.9 * m[j]! + 0.1 * g;
        v[j] = 0.95 * v[j]! + 0.05 * g * g;
        const step = m[j]! / (1 - 0.9 ** t) / (Math.sqrt(v[j]! / (1 - 0.95 ** t)) + 1e-8);
        p[j]! -= settings.learningRate * (step + (decays ? settings.weightDecay * p[j]! : 0));
      });
    });
  }
  expect(store.steps).toBe(4);
  for (const { name, p } of reference) {
    store.view('p', name).forEach((value, j) => {
      expect(value).toBeCloseTo(p[j]!, 5);
    });
  }
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])('a gradient of %s is refused and nothing changes', async (bad) => {
  const store = await ParameterStore.create(SPECS);
  const state = (): number[] =>
    SPECS.flatMap(({ name }) => (['p', 'm', 'v'] as const).flatMap((part) => [...store.view(part, name)]));
  store.view('p', 'matrix').set(numbers(15, 'p'));
  store.accumulate('matrix', numbers(15, 'g'));
  store.step(OPTIMISER);
  const before = state();
  store.clearGradients();
  store.accumulate('matrix', numbers(15, 'g').fill(bad, 4, 5));
  expect(() => store.step(OPTIMISER)).toThrow(expect.objectContaining({ code: 'nan_gradient' }));
  expect(state()).toEqual(before);
  expect(store.steps).toBe(1);
});

test.each([
  ['too large', { learningRate: 1e30 }, 'gain reaches 1.0e+30'],
  ['not a number', { learningRate: Number.NaN }, 'matrix is not a number'],
])('a step that leaves weights that are %s is told, and no other follows', async (_, change, what) => {
  const store = await ParameterStore.create(SPECS);
  store.accumulate('gain', numbers(7, 'g'));
  const refused = expect.objectContaining({ code: 'diverged', message: expect.stringContaining(what) });
  expect(() => store.step({ ...OPTIMISER, ...change })).toThrow(refused);
  expect(() => store.step(OPTIMISER)).toThrow(refused);
  expect(() => store.checkUsable()).toThrow(refused);
  expect(store.steps).toBe(1);
});

test('a model that WebAssembly cannot hold is refused', async () => {
  await expect(ParameterStore.create([{ name: 'huge', shape: [300_000, 1024] }])).rejects.toMatchObject({
    code: 'model_too_large',
  });
});
