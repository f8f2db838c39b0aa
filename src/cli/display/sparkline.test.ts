import { expect, test } from 'vitest';
import { sparkline } from './sparkline.js';

test('bars rise with the values', () => {
  expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7])).toBe('▁▂▃▄▅▆▇█');
  expect(sparkline([0.34, 0.41, 0.39, 0.58])).toBe('▁▃▂█');
});

test('a flat series, one value, none, and a gap', () => {
  expect(sparkline([3, 3, 3])).toBe('▅▅▅');
  expect(sparkline([3])).toBe('▅');
  expect(sparkline([])).toBe('');
  expect(sparkline([0, Number.NaN, 1])).toBe('▁ █');
});

test('long series are averaged down to the columns that there are', () => {
  expect(sparkline([0, 0, 1, 1, 2, 2, 3, 3], 4)).toBe('▁▃▆█');
  expect(
    sparkline(
      Array.from({ length: 1000 }, (_, i) => i),
      40,
    ),
  ).toHaveLength(40);
});
