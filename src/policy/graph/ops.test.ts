import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { expect, test } from 'vitest';
import { stream } from '../../core/seeds.js';
import { Graph, type Tensor } from './graph.js';
import * as ops from './ops.js';

interface Case {
  readonly name: string;
  /** Shapes of the differentiable inputs. */
  readonly shapes: readonly (readonly number[])[];
  readonly build: (g: Graph, inputs: readonly Tensor[]) => Tensor;
}

const T = 5;
const B = 3;
const D = 4;
const tables = (g: Graph): ops.RopeTables => {
  const angle = Float32Array.from({ length: 9 * (D / 2) }, (_, i) => 0.3 * i);
  const sin = angle.map(Math.sin);
  return {
    positions: g.emit('Reshape', [g.ints([0, 1, 2, 3, 4, 5, 6, 7, 8, 3]), g.ints([-1, 1])]),
    cos: g.floats(angle.map(Math.cos), [9, D / 2]),
    sin: g.floats(sin, [9, D / 2]),
    negativeSin: g.floats(
      sin.map((x) => -x),
      [9, D / 2],
    ),
  };
};
const causal = (g: Graph): Tensor =>
  g.floats(
    Float32Array.from({ length: T * T }, (_, i) => (i % T > Math.floor(i / T) ? -1e9 : 0)),
    [T, T],
  );

const cases: readonly Case[] = [
  {
    name: 'add',
    shapes: [
      [4, 3],
      [4, 3],
    ],
    build: (g, [a, b]) => ops.add(g, a!, b!),
  },
  { name: 'add of a tensor to itself', shapes: [[4, 3]], build: (g, [a]) => ops.add(g, a!, a!) },
  {
    name: 'mul',
    shapes: [
      [4, 3],
      [4, 3],
    ],
    build: (g, [a, b]) => ops.mul(g, a!, b!),
  },
  { name: 'sum', shapes: [[4, 3]], build: (g, [a]) => ops.sum(g, a!) },
  {
    name: 'linear',
    shapes: [
      [4, 3],
      [5, 3],
    ],
    build: (g, [x, w]) => ops.linear(g, x!, w!),
  },
  {
    name: 'embed with repeated ids',
    shapes: [[6, 3]],
    build: (g, [table]) => ops.embed(g, table!, g.ints([1, 4, 1, 1, 0]), 3),
  },
  {
    name: 'embed and linear on one tied table',
    shapes: [[6, 3]],
    build: (g, [table]) => ops.linear(g, ops.embed(g, table!, g.ints([1, 4, 1]), 3), table!),
  },
  { name: 'selectRows', shapes: [[6, 3]], build: (g, [x]) => ops.selectRows(g, x!, g.ints([4, 0, 3])) },
  { name: 'rmsNorm', shapes: [[6, 8], [8]], build: (g, [x, w]) => ops.rmsNorm(g, x!, w!, 1e-5) },
  { name: 'rope', shapes: [[10, 2 * D]], build: (g, [x]) => ops.rope(g, x!, tables(g), 2, D) },
  { name: 'repeatHeads', shapes: [[6, 2 * D]], build: (g, [x]) => ops.repeatHeads(g, x!, 2, 6, D) },
  {
    name: 'attention',
    shapes: [
      [T * B, 2 * D],
      [T * B, 2 * D],
      [T * B, 2 * D],
    ],
    build: (g, [q, k, v]) =>
      ops.attention(g, q!, k!, v!, { perHead: g.ints([T, B * 2, D]), mask: causal(g), heads: 2, headDim: D }),
  },
  {
    name: 'swiglu',
    shapes: [
      [4, 5],
      [4, 5],
    ],
    build: (g, [a, b]) => ops.swiglu(g, a!, b!),
  },
  {
    name: 'logprob',
    shapes: [[4, 7]],
    build: (g, [x]) => ops.logprob(g, x!, g.emit('Reshape', [g.ints([6, 0, 2, 2]), g.ints([-1, 1])])).chosen,
  },
];

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

test.each(cases)('gradient of $name equals finite differences', async ({ name, shapes, build }) => {
  const random = stream(11, 'ops', name);
  const normals = (n: number): Float32Array => Float32Array.from({ length: n }, () => random.normal());
  const g = new Graph();
  const inputs = shapes.map((shape, i) => g.input(`x${i}`, 'float32', shape, true));
  const y = build(g, inputs);
  // loss = Σ r ⊙ y for a fixed random r, given as an input, so that every output element matters differently.
  const r = g.input('r', 'float32', ['...']);
  const loss = ops.sum(
    g,
    ops.mul(
      g,
      g.record(g.emit('Reshape', [y, g.ints([-1])]), [y], (d) => [
        g.emit('Reshape', [d, g.emit('Shape', [y], {}, { dtype: 'int64' })]),
      ]),
      r,
    ),
  );
  const gradient = g.backward(loss);
  g.output(y, 'y', name === 'sum' ? [] : ['a', 'b']);
  inputs.forEach((x, i) => {
    const d = gradient(x);
    if (d === undefined) throw new Error(`no gradient for input ${i}`);
    g.output(d, `d${i}`, shapes[i]!);
  });
  const session = await InferenceSession.create(g.encode(), { logSeverityLevel: 3, intraOpNumThreads: 1 });

  const values = shapes.map((shape) => normals(sizeOf(shape)));
  const run = async (r: Float32Array) =>
    session.run({
      r: new OrtTensor('float32', r, [r.length]),
      ...Object.fromEntries(values.map((v, i) => [`x${i}`, new OrtTensor('float32', v, shapes[i]!)])),
    });
  // The size of y is only known once it runs.
  const outputs = sizeOf(
    (
      await session.run(
        {
          r: new OrtTensor('float32', [1], [1]),
          ...Object.fromEntries(values.map((v, i) => [`x${i}`, new OrtTensor('float32', v, shapes[i]!)])),
        },
        ['y'],
      )
    ).y!.dims,
  );
  const weights = normals(outputs);
  const objective = async (): Promise<number> => {
    const out = (await run(weights)).y!.data as Float32Array;
    return out.reduce((total, v, i) => total + v * weights[i]!, 0);
  };

  const analytic = await run(weights);
  for (let i = 0; i < shapes.length; i++) {
    const direction = normals(sizeOf(shapes[i]!));
    const expected = (analytic[`d${i}`]!.data as Float32Array).reduce((t, v, j) => t + v * direction[j]!, 0);
    const original = values[i]!.slice();
    const slope = async (h: number): Promise<number> => {
      const at = async (step: number): Promise<number> => {
        values[i]!.set(original.map((v, j) => v + step * direction[j]!));
        return objective();
      };
      return ((await at(h)) - (await at(-h))) / (2 * h);
    };
    // Richardson: the error of the central difference falls from h² to h⁴.
    const numeric = (4 * (await slope(0.01)) - (await slope(0.02))) / 3;
    values[i]!.set(original);
    expect(Math.abs(numeric - expected)).toBeLessThan(2e-3 * Math.max(1, Math.abs(expected)));
  }
  await session.release();
});

test('a loss that does not reach a tensor gives it no gradient', () => {
  const g = new Graph();
  const a = g.input('a', 'float32', [2], true);
  const b = g.input('b', 'float32', [2], true);
  const gradient = g.backward(ops.sum(g, ops.mul(g, a, a)));
  expect(gradient(a)).toBeDefined();
  expect(gradient(b)).toBeUndefined();
});
