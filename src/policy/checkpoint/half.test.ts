import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBfloat16, fromHalf, toHalf } from './half.js';

test('every binary16 value survives the way to float and back', () => {
  for (let half = 0; half < 65536; half++) {
    const value = fromHalf(half);
    if (Number.isNaN(value)) expect(Number.isNaN(fromHalf(toHalf(value)))).toBe(true);
    else if (toHalf(value) !== half) expect(toHalf(value)).toBe(half);
  }
});

test('a float32 becomes the nearest binary16, ties to even', () => {
  fc.assert(
    fc.property(fc.float({ min: -65504, max: 65504, noNaN: true }), (value) => {
      const half = toHalf(value);
      const error = Math.abs(fromHalf(half) - value);
      for (const neighbour of [half - 1, half + 1]) {
        if ((neighbour & 0x7fff) >= 0x7c00 || neighbour < 0) continue;
        const other = Math.abs(fromHalf(neighbour) - value);
        expect(error < other || (error === other && (half & 1) === 0)).toBe(true);
      }
    }),
  );
  expect(toHalf(65519.996)).toBe(0x7bff);
  expect(toHalf(65520)).toBe(0x7c00);
  expect(toHalf(-1e9)).toBe(0xfc00);
  expect(toHalf(2 ** -25)).toBe(0);
  expect(toHalf(3 * 2 ** -25)).toBe(2);
});

test('bfloat16 is the upper half of a float32', () => {
  expect(fromBfloat16(0x3f80)).toBe(1);
  expect(fromBfloat16(0xc049)).toBe(-3.140625);
});
