import { expect, test } from 'vitest';
import { parseConfig } from '../model/config.js';
import { BufferPool, KeyValueCache } from './cache.js';

// One layer and one head of the smallest even size.
const config = parseConfig({
  hidden_size: 2,
  num_hidden_layers: 1,
  num_attention_heads: 1,
  intermediate_size: 2,
  vocab_size: 2,
  max_position_embeddings: 8,
});
const pairs = (...values: number[]): Float32Array => Float32Array.from(values.flatMap((v) => [v, v]));

test('a cache is filled, appended to and rearranged, whatever its buffers held before', () => {
  const pool = new BufferPool();
  for (let i = 0; i < 3; i++) pool.give(new Float32Array(24).fill(Number.NaN));
  const cache = new KeyValueCache(config, 2, 2, 3, pool);
  // A prefill of two prompts [T = 3, 2]: columns of prompt 0 are 10, 11, 12, of prompt 1 20, 21, 22.
  const prefill = pairs(10, 20, 11, 21, 12, 22);
  for (const buffer of [0, 1]) {
    cache.fill(buffer, 0, prefill, 2, 1, 0, 2);
    cache.fill(buffer, 1, prefill, 2, 0, 2, 3);
    cache.append(buffer, pairs(7, 8));
  }
  cache.advance();
  expect(cache.view(0)).toEqual(pairs(20, 12, 21, 0, 7, 8));
  cache.rearrange([1, undefined, 0, 1], 3);
  for (const buffer of [0, 1]) expect(cache.view(buffer)).toEqual(pairs(12, 0, 20, 12, 0, 0, 21, 0, 8, 0, 7, 8));
  cache.rearrange([2], 2);
  expect(cache.view(1)).toEqual(pairs(20, 21));
  cache.release();
});

test('buffers go round', () => {
  const pool = new BufferPool();
  const large = new Float32Array(100);
  const small = new Float32Array(10);
  pool.give(large);
  pool.give(small);
  expect(pool.take(8)).toBe(small);
  expect(pool.take(8)).toBe(large);
  expect(pool.take(8).length).toBe(8);
});
