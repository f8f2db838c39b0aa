import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SafetensorsFile, writeSafetensors } from './safetensors.js';
import { readWeights } from './weights.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hone-safetensors-'));
  path = join(folder, 'model.safetensors');
});
afterEach(() => rm(folder, { recursive: true }));

const A = { name: 'a.weight', shape: [2, 3], data: Float32Array.of(1, -2, 0.5, 1e-3, 65504, -0) };
const B = { name: 'b.weight', shape: [1], data: Float32Array.of(Math.fround(0.1)) };

/** Writes a file by hand: any header, any number of data bytes. */
async function handmade(header: unknown, bytes: number): Promise<void> {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  await writeFile(path, Buffer.concat([length, json, Buffer.alloc(bytes)]));
}

test('float32 comes back bit for bit, with its metadata', async () => {
  writeSafetensors(path, [A, B], 'F32', { step: '7' });
  const file = await SafetensorsFile.open(path);
  expect(file.names).toEqual(['a.weight', 'b.weight']);
  expect(file.metadata).toEqual({ format: 'pt', step: '7' });
  for (const { name, shape, data } of [A, B]) {
    const target = new Float32Array(data.length);
    await file.read(name, shape, target);
    expect(new Uint32Array(target.buffer)).toEqual(new Uint32Array(data.buffer));
  }
  await file.close();
  const raw = await readFile(path);
  expect(Number(raw.readBigUInt64LE()) % 8).toBe(0);
});

test('float16 halves the file and rounds', async () => {
  writeSafetensors(path, [A, B], 'F16');
  const file = await SafetensorsFile.open(path);
  const target = new Float32Array(1);
  await file.read('b.weight', [1], target);
  expect(target[0]).toBe(0.0999755859375);
  await file.close();
});

test('bfloat16 is read', async () => {
  await handmade({ x: { dtype: 'BF16', shape: [1], data_offsets: [0, 2] } }, 0);
  await writeFile(path, Buffer.concat([await readFile(path), Buffer.from([0x49, 0xc0])]));
  const file = await SafetensorsFile.open(path);
  const target = new Float32Array(1);
  await file.read('x', [1], target);
  expect(target[0]).toBe(-3.140625);
  await file.close();
});

test('a value that float16 cannot hold is refused by name', async () => {
  const huge = { name: 'big', shape: [1], data: Float32Array.of(1e6) };
  expect(() => writeSafetensors(path, [huge], 'F16')).toThrow(`${path}: tensor big holds 1000000`);
});

test('a file cut anywhere is refused by name', async () => {
  writeSafetensors(path, [A, B], 'F32');
  const { length } = await readFile(path);
  for (const size of [length - 1, length - 20, 60, 8, 5, 0]) {
    await truncate(path, size);
    await expect(SafetensorsFile.open(path)).rejects.toMatchObject({
      name: 'HoneError',
      code: 'checkpoint_truncated',
      message: expect.stringContaining(path),
    });
  }
});

const entry = (change: object = {}): object => ({ x: { dtype: 'F32', shape: [2], data_offsets: [0, 8], ...change } });
test.each([
  ['not JSON', '{"x": ', 8, 'the header is not valid JSON'],
  ['a list', [], 0, 'the header is not an object'],
  ['metadata that is not text', { __metadata__: { a: 1 } }, 0, '__metadata__'],
  ['an unknown type', entry({ dtype: 'I64' }), 8, 'tensor x: dtype'],
  ['a negative size', entry({ shape: [-2] }), 8, 'tensor x: shape.0'],
  ['offsets that contradict the shape', entry({ data_offsets: [0, 4] }), 4, 'tensor x: 4 bytes for shape [2] of F32'],
  ['a gap', entry({ data_offsets: [4, 12] }), 12, 'tensor x: starts at byte 4, expected 0'],
  [
    'an overlap',
    { ...entry(), y: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } },
    8,
    'tensor y: starts at byte 4, expected 8',
  ],
  ['bytes after the last tensor', entry(), 11, '3 bytes follow the last tensor'],
])('a header with %s is refused', async (_, header, bytes, message) => {
  await handmade(header, bytes);
  await expect(SafetensorsFile.open(path)).rejects.toMatchObject({
    code: 'checkpoint_corrupt',
    message: expect.stringContaining(message),
  });
});

test('a file that is something else is refused', async () => {
  await writeFile(path, 'PK\u0003\u0004 this is a zip file, or so it says');
  await expect(SafetensorsFile.open(path)).rejects.toMatchObject({ code: 'checkpoint_corrupt' });
  await expect(SafetensorsFile.open(join(folder, 'none'))).rejects.toMatchObject({ code: 'checkpoint_missing' });
});

test('a full disk and an unwritable place are told apart', async () => {
  if (existsSync('/dev/full')) {
    expect(() => writeSafetensors('/dev/full', [A], 'F32')).toThrow(expect.objectContaining({ code: 'disk_full' }));
  }
  await writeFile(path, '');
  expect(() => writeSafetensors(join(path, 'x'), [A], 'F32')).toThrow(expect.objectContaining({ code: 'unwritable' }));
});

const SPECS = [A, B].map(({ name, shape }) => ({ name, shape }));
async function load(specs = SPECS): Promise<Record<string, Float32Array>> {
  const values = Object.fromEntries(
    specs.map(({ name, shape }) => [name, new Float32Array(shape.reduce((a, b) => a * b))]),
  );
  await readWeights(folder, specs, (name) => values[name]!);
  return values;
}

test('missing, unexpected and misshapen tensors are named', async () => {
  writeSafetensors(path, [A, B], 'F32');
  await expect(load([...SPECS, { name: 'c', shape: [1] }])).rejects.toThrow(`${path}: tensor c is missing`);
  await expect(load(SPECS.slice(0, 1))).rejects.toThrow(`${path}: tensor b.weight has no place in the model`);
  await expect(load([{ name: 'a.weight', shape: [3, 2] }, SPECS[1]!])).rejects.toThrow(
    `${path}: tensor a.weight has shape [2, 3], expected [3, 2]`,
  );
});

test('shards are read through their index', async () => {
  const index = join(folder, 'model.safetensors.index.json');
  writeSafetensors(join(folder, 'one.safetensors'), [A], 'F32');
  writeSafetensors(join(folder, 'two.safetensors'), [B], 'F16');
  await writeFile(
    index,
    JSON.stringify({ weight_map: { 'a.weight': 'one.safetensors', 'b.weight': 'two.safetensors' } }),
  );
  const values = await load();
  expect(values['a.weight']).toEqual(A.data);
  expect(values['b.weight']![0]).toBeCloseTo(0.1, 3);
  await rm(join(folder, 'two.safetensors'));
  await expect(load()).rejects.toThrow(`${join(folder, 'two.safetensors')}: not found`);
  await writeFile(index, JSON.stringify({ weight_map: { 'a.weight': '../one.safetensors' } }));
  await expect(load()).rejects.toThrow('must be a plain file name');
});
