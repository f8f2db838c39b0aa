import { InferenceSession, Tensor } from 'onnxruntime-node';
import { expect, test } from 'vitest';
import { encodeModel } from './proto.js';

test('a model with every kind of attribute, a constant and a symbolic dimension runs', async () => {
  const bytes = encodeModel({
    nodes: [
      // int, int list (with a negative value), float and string attributes.
      { type: 'Transpose', domain: '', inputs: ['x'], outputs: ['xt'], attributes: { perm: [1, 0] } },
      { type: 'Softmax', domain: '', inputs: ['xt'], outputs: ['p'], attributes: { axis: -1 } },
      { type: 'LeakyRelu', domain: '', inputs: ['k'], outputs: ['leaky'], attributes: { alpha: { float: 0.25 } } },
      {
        type: 'ScatterElements',
        domain: '',
        inputs: ['leaky', 'i', 'k'],
        outputs: ['s'],
        attributes: { axis: 0, reduction: 'add' },
      },
    ],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 2] }],
    outputs: [
      { name: 'p', dtype: 'float32', shape: [2, 'n'] },
      { name: 's', dtype: 'float32', shape: [2] },
    ],
    constants: [
      { name: 'k', dtype: 'float32', shape: [2], data: new Uint8Array(Float32Array.of(-8, 4).buffer) },
      { name: 'i', dtype: 'int64', shape: [2], data: new Uint8Array(BigInt64Array.of(1n, 1n).buffer) },
    ],
  });
  const session = await InferenceSession.create(bytes, { logSeverityLevel: 3 });
  const out = await session.run({ x: new Tensor('float32', [0, 5, 0, 5, Math.log(2), 5], [3, 2]) });
  expect([...(out.p!.data as Float32Array)].map((p) => p.toFixed(4))).toEqual(
    [1 / 4, 1 / 4, 1 / 2, 1 / 3, 1 / 3, 1 / 3].map((p) => p.toFixed(4)),
  );
  // leaky = [-2, 4]; both updates fall on element 1.
  expect([...(out.s!.data as Float32Array)]).toEqual([-2, 0]);
  await session.release();
});
