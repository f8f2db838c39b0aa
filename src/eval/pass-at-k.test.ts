import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bootstrapMean, passAtK } from './pass-at-k.js';

test('by hand: one of two passes', () => {
  expect(passAtK(2, 1, 1)).toBe(0.5);
  expect(passAtK(2, 1, 2)).toBe(1);
  expect(passAtK(10, 0, 5)).toBe(0);
  // 1 − C(7,2)/C(10,2) = 1 − 21/45
  expect(passAtK(10, 3, 2)).toBeCloseTo(24 / 45, 12);
});

test('equals the share of k-subsets that hold a passing sample', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(9), fc.integer({ min: 1, max: 9 }), (n, c, k) => {
      fc.pre(c <= n && k <= n);
      let subsets = 0;
      let hits = 0;
      for (let mask = 0; mask < 1 << n; mask++) {
        const members = Array.from({ length: n }, (_, i) => i).filter((i) => mask & (1 << i));
        if (members.length !== k) continue;
        subsets++;
        if (members.some((i) => i < c)) hits++;
      }
      expect(passAtK(n, c, k)).toBeCloseTo(hits / subsets, 9);
    }),
  );
});

test('impossible counts are refused', () => {
  for (const [n, c, k] of [
    [2, 3, 1],
    [2, 1, 3],
    [2, -1, 1],
    [2, 1, 0],
    [1.5, 1, 1],
  ] as const)
    expect(() => passAtK(n, c, k)).toThrow(RangeError);
});

test('the interval holds its mean and covers the truth about 95 % of the time', () => {
  let covered = 0;
  for (let seed = 0; seed < 200; seed++) {
    // 60 draws of a Bernoulli(0.3) from a fixed congruential sequence.
    let x = seed * 7919 + 13;
    const values = Array.from({ length: 60 }, () => {
      x = (x * 1103515245 + 12345) % 2147483648;
      return x / 2147483648 < 0.3 ? 1 : 0;
    });
    const interval = bootstrapMean(values, seed, 400);
    expect(interval.low <= interval.value && interval.value <= interval.high).toBe(true);
    if (interval.low <= 0.3 && 0.3 <= interval.high) covered++;
  }
  expect(covered).toBeGreaterThan(176);
});

test('too few items to say anything give the whole range', () => {
  expect(bootstrapMean([], 1)).toEqual({ value: 0, low: 0, high: 1 });
  expect(bootstrapMean([1], 1)).toEqual({ value: 1, low: 0, high: 1 });
});
