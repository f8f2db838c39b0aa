import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stream } from './seeds.js';

test('a stream is a function of its seed and name alone', () => {
  const draw = (seed: number, ...name: (string | number)[]): number[] => {
    const s = stream(seed, ...name);
    return Array.from({ length: 5 }, () => s.next());
  };
  expect(draw(1, 'sample', 3)).toEqual(draw(1, 'sample', 3));
  expect(draw(1, 'sample', 3)).not.toEqual(draw(2, 'sample', 3));
  expect(draw(1, 'sample', 3)).not.toEqual(draw(1, 'sample', 4));
  expect(draw(1, 'sample', 3)).not.toEqual(draw(1, 'sample', '3'));
  expect(draw(1, 'a', 'b')).not.toEqual(draw(1, 'ab'));
});

test('the numbers of a stream never change between versions of Hone', () => {
  const s = stream(7, 'golden');
  expect([s.next(), s.next(), s.int(1000), s.normal()]).toMatchInlineSnapshot(`
    [
      0.6298061510450744,
      0.7524672373661614,
      757,
      0.12405358850323275,
    ]
  `);
});

test('draws stay in range and are roughly uniform', () => {
  const s = stream(3, 'uniform');
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 20_000; i++) {
    const x = s.next();
    expect(x >= 0 && x < 1).toBe(true);
    counts[Math.floor(x * 10)]! += 1;
  }
  // 2000 expected a bin, standard deviation 42.
  for (const n of counts) expect(Math.abs(n - 2000)).toBeLessThan(250);
});

test('neighbouring streams are not correlated', () => {
  const firsts = Array.from({ length: 5000 }, (_, i) => stream(1, 'neighbour', i).next());
  const mean = firsts.reduce((a, b) => a + b, 0) / firsts.length;
  let covariance = 0;
  for (let i = 1; i < firsts.length; i++) covariance += (firsts[i]! - mean) * (firsts[i - 1]! - mean);
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.02);
  expect(Math.abs(covariance / firsts.length / (1 / 12))).toBeLessThan(0.06);
});

test('shuffle keeps every item', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.nat(), (items, seed) => {
      const shuffled = stream(seed, 'shuffle').shuffle(items);
      expect([...shuffled].sort()).toEqual([...items].sort());
    }),
  );
});

test('pick from an empty list is an error, not undefined', () => {
  expect(() => stream(1, 'x').pick([])).toThrow(RangeError);
});
