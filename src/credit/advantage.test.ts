import fc from 'fast-check';
import { expect, test } from 'vitest';
import { grpo, rloo } from './advantage.js';

const rewards = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 2, maxLength: 16 });
const close = (a: readonly number[], b: readonly number[]): void => {
  expect(a.length).toBe(b.length);
  a.forEach((x, i) => {
    expect(x).toBeCloseTo(b[i]!, 9);
  });
};

test('by hand: two of four pass', () => {
  close(grpo({ std: false })([1, 0, 0, 1]), [0.5, -0.5, -0.5, 0.5]);
  close(
    grpo({ std: true })([1, 0, 0, 1]),
    [1, -1, -1, 1].map((a) => a * (0.5 / (0.5 + 1e-6))),
  );
  close(rloo()([1, 0, 0, 1]), [2 / 3, -2 / 3, -2 / 3, 2 / 3]);
});

test('rloo is the reward minus the mean of the others', () => {
  fc.assert(
    fc.property(rewards, (r) => {
      const slow = r.map((x, i) => {
        const others = r.filter((_, j) => j !== i);
        return x - others.reduce((a, b) => a + b, 0) / others.length;
      });
      close(rloo()(r), slow);
    }),
  );
});

test('advantages sum to zero and equal rewards give none', () => {
  fc.assert(
    fc.property(rewards, fc.boolean(), (r, std) => {
      expect(grpo({ std })(r).reduce((a, b) => a + b, 0)).toBeCloseTo(0, 6);
      expect(rloo()(r).reduce((a, b) => a + b, 0)).toBeCloseTo(0, 6);
    }),
  );
  expect(grpo({ std: true })([1, 1, 1])).toEqual([0, 0, 0]);
  expect(rloo()([1])).toEqual([0]);
  expect(grpo()([])).toEqual([]);
});
