import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseConfig } from '../model/config.js';
import { TIED } from '../testing.js';
import { checkSequence, packBatches, packItem } from './batch.js';

const ids = (min: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: 0, max: 18 }), { minLength: min, maxLength: 12 });
const sequence = fc.record({ promptIds: ids(1), completionIds: ids(0) });

test('every target is predicted once, from the token before it, within the token budget', () => {
  fc.assert(
    fc.property(fc.array(sequence, { maxLength: 20 }), fc.integer({ min: 1, max: 80 }), (sequences, maxTokens) => {
      const batches = packBatches(
        sequences.map((s, i) => packItem(s, i)),
        maxTokens,
      );
      const seen = sequences.map(() => [] as number[]);
      for (const { items, length, batch, ids, rows, targets } of batches) {
        expect(batch).toBe(items.length);
        expect(length * batch <= maxTokens || batch === 1).toBe(true);
        expect(new Set(rows).size).toBe(rows.length);
        let at = 0;
        for (const [b, { index, targets: own }] of items.entries()) {
          const { promptIds, completionIds } = sequences[index]!;
          const all = [...promptIds, ...completionIds];
          for (let i = 0; i < own.length; i++, at++) {
            const row = Number(rows[at]);
            expect(row % batch).toBe(b);
            const t = (row - b) / batch;
            expect(all[t + 1]).toBe(Number(targets[at]));
            for (let s = 0; s <= t; s++) expect(ids[s * batch + b]).toBe(all[s]);
            seen[index]!.push(Number(targets[at]));
          }
        }
      }
      expect(seen).toEqual(sequences.map((s) => [...s.completionIds]));
    }),
  );
});

test('masked targets and what follows the last of the others are left out', () => {
  const item = packItem({ promptIds: [5, 6], completionIds: [7, 8, 9, 10] }, 0, Float32Array.of(0, 0.5, -1, 0));
  expect(item).toEqual({ index: 0, inputs: [5, 6, 7, 8], positions: [2, 3], targets: [8, 9], weights: [0.5, -1] });
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
