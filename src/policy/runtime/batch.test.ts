import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseConfig } from '../model/config.js';
import { TIED } from '../models.testing.js';
import {
  checkSequence,
  type FeedData,
  type MicroBatch,
  packBatches,
  packItem,
  packShared,
  packWhole,
} from './batch.js';

const ids = (min: number, max: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: 0, max: 18 }), { minLength: min, maxLength: max });
/** Completions of few prompts, so that prompts repeat. */
const sequences = fc
  .tuple(
    fc.array(ids(1, 8), { minLength: 1, maxLength: 4 }),
    fc.array(fc.tuple(fc.nat(), ids(0, 9)), { maxLength: 20 }),
  )
  .map(([prompts, completions]) =>
    completions.map(([i, completionIds]) => ({ promptIds: prompts[i % prompts.length]!, completionIds })),
  );

/** The tokens that a row of a batch sees, itself last, found by following the masks and shapes. */
function visible({ layout, feeds }: MicroBatch, row: number): number[] {
  const take = (data: FeedData['data'], from: number, to: number, stride: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, t) => Number(data[(from + t) * stride]!));
  if (layout === 'whole') {
    const { data, shape } = feeds.ids!;
    const b = row % shape[1]!;
    return take(data.subarray(b) as FeedData['data'], 0, (row - b) / shape[1]!, shape[1]!);
  }
  const [prefix, tail, mask] = [feeds.prefix_ids!, feeds.tail_ids!, feeds.padding_mask!];
  const inTail = row - prefix.data.length;
  const slot = inTail % tail.shape[1]!;
  const p = Math.floor(slot / (tail.shape[1]! / prefix.shape[1]!));
  const unmasked = take(prefix.data.subarray(p) as FeedData['data'], 0, prefix.shape[0]! - 1, prefix.shape[1]!).filter(
    (_, t) => mask.data[p * prefix.shape[0]! + t] === 0,
  );
  const own = take(tail.data.subarray(slot) as FeedData['data'], 0, (inTail - slot) / tail.shape[1]!, tail.shape[1]!);
  const seen = [...unmasked, ...own];
  expect(feeds.positions!.data[row]).toBe(BigInt(seen.length - 1));
  return seen;
}

test.each([
  ['whole', packWhole],
  ['shared', packShared],
] as const)('in the %s layout every target is predicted once, from exactly the tokens before it', (layout, pack) => {
  fc.assert(
    fc.property(sequences, fc.integer({ min: 1, max: 80 }), (list, maxTokens) => {
      const items = list.map((s, i) => packItem(s, i)).filter((item) => item.targets.length > 0);
      const batches = pack(items, maxTokens);
      const seen = list.map(() => [] as number[]);
      for (const batch of batches) {
        const rows = batch.feeds.rows!.data;
        const targets = batch.feeds.targets!.data;
        expect(batch.layout).toBe(layout);
        expect(rows.length).toBe(batch.count);
        expect(new Set<number | bigint>(rows).size).toBe(rows.length);
        expect(batch.padded <= maxTokens || batch.items.length === 1).toBe(true);
        let at = 0;
        for (const { index, targets: own } of batch.items) {
          const { promptIds, completionIds } = list[index]!;
          for (let i = 0; i < own.length; i++, at++) {
            expect(visible(batch, Number(rows[at]))).toEqual([...promptIds, ...completionIds.slice(0, i)]);
            seen[index]!.push(Number(targets[at]));
          }
        }
      }
      expect(seen).toEqual(list.map((s) => [...s.completionIds]));
    }),
  );
});

test('the layout that computes fewer tokens is chosen', () => {
  const promptIds = [1, 2, 3, 4, 5, 6, 7, 8];
  const group = Array.from({ length: 4 }, (_, i) => packItem({ promptIds, completionIds: [9, i] }, i));
  expect(packBatches(group, 100).map(({ layout, padded }) => [layout, padded])).toEqual([['shared', 7 + 4 * 2]]);
  expect(packBatches(group.slice(0, 1), 100).map(({ layout, padded }) => [layout, padded])).toEqual([['whole', 9]]);
});

test('masked targets and what follows the last of the others are left out', () => {
  const item = packItem({ promptIds: [5, 6], completionIds: [7, 8, 9, 10] }, 0, Float32Array.of(0, 0.5, -1, 0));
  expect(item).toEqual({
    index: 0,
    inputs: [5, 6, 7, 8],
    promptLength: 2,
    positions: [2, 3],
    targets: [8, 9],
    weights: [0.5, -1],
  });
});

test('sequences that the model cannot read are refused by number', () => {
  const config = parseConfig(TIED);
  const check = (promptIds: number[], completionIds: number[]) => () =>
    checkSequence(config, { promptIds, completionIds }, 3);
  expect(check([], [1])).toThrow('sequence 3: the prompt is empty');
  expect(check([1], [19])).toThrow('sequence 3: id 19 is outside the vocabulary of 19');
  expect(check([1.5], [])).toThrow('sequence 3: id 1.5');
  expect(check(new Array(40).fill(1), new Array(10).fill(1))).toThrow('49 ids do not fit into the context of 48');
  expect(check(new Array(40).fill(1), new Array(9).fill(1))).not.toThrow();
});
