import { Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Graph } from '../graph/graph.js';
import { floatsOf, Program } from './program.js';

// What the engine is built around; a new version of ONNX Runtime may change it.

let doubling: Program;
beforeAll(async () => {
  const g = new Graph();
  const x = g.input('x', 'float32', ['n']);
  g.output(g.emit('Add', [x, x]), 'y', ['n']);
  doubling = await Program.compile(g, 1);
});
afterAll(() => doubling.release());

const feed = (values: Float32Array): { x: Tensor } => ({ x: new Tensor('float32', values, [values.length]) });

test('feeds over shared memory are refused, so the parameters must lie in memory that is not shared', async () => {
  const shared = new Float32Array(new SharedArrayBuffer(16)) as unknown as Float32Array<ArrayBuffer>;
  await expect(doubling.run(feed(shared))).rejects.toThrow('Invalid argument');
});

test('a feed is read at every run, without a copy made before', async () => {
  const values = Float32Array.of(1, 2, 3);
  const feeds = feed(values);
  expect([...floatsOf(await doubling.run(feeds), 'y')]).toEqual([2, 4, 6]);
  values[1] = 20;
  expect([...floatsOf(await doubling.run(feeds), 'y')]).toEqual([2, 40, 6]);
});

test('an output survives later runs and the feeds it was computed from', async () => {
  const values = Float32Array.of(1, 2, 3);
  const first = floatsOf(await doubling.run(feed(values)), 'y');
  values.fill(9);
  const second = floatsOf(await doubling.run(feed(values)), 'y');
  second.fill(-1);
  expect([...first]).toEqual([2, 4, 6]);
});
