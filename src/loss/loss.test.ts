import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleTrajectory } from '../core/fixtures.testing.js';
import { sequenceMean, tokenMean } from './aggregation.js';
import { clip } from './clip.js';

const at = (logprob: number, advantage: number) =>
  clip()({ logprobs: [logprob] }, exampleTrajectory('accepted', {}, 1), [advantage]);

test('by hand: on policy the loss is −A and so is its derivative', () => {
  const { loss, gradient, clipped } = at(Math.log(0.5), 0.75);
  expect([loss[0], gradient[0], clipped[0]]).toEqual([-0.75, -0.75, 0]);
});

test('by hand: ratio 1.5 is clipped at 1.28 for a positive advantage and not for a negative one', () => {
  const up = at(Math.log(0.75), 1);
  expect(up.loss[0]).toBeCloseTo(-1.28, 6);
  expect([up.gradient[0], up.clipped[0]]).toEqual([0, 1]);
  const down = at(Math.log(0.75), -1);
  expect(down.loss[0]).toBeCloseTo(1.5, 6);
  expect(down.gradient[0]).toBeCloseTo(1.5, 6);
});

test('by hand: ratio 0.5 is clipped at 0.8 for a negative advantage', () => {
  const { loss, gradient, clipped } = at(Math.log(0.25), -1);
  expect(loss[0]).toBeCloseTo(0.8, 6);
  expect([gradient[0], clipped[0]]).toEqual([0, -1]);
});

test('the derivative agrees with finite differences away from the corners', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -3, max: -0.01, noNaN: true }),
      fc.double({ min: -2, max: 2, noNaN: true }),
      (x, a) => {
        const ratio = Math.exp(x) / 0.5;
        fc.pre(Math.abs(ratio - 0.8) > 1e-2 && Math.abs(ratio - 1.28) > 1e-2 && Math.abs(a) > 1e-3);
        // Double-precision loss as the oracle: the shipped one stores float32.
        const loss = (lp: number): number => {
          const r = Math.exp(lp - Math.log(0.5));
          return -Math.min(r * a, Math.min(Math.max(r, 0.8), 1.28) * a);
        };
        const slope = (loss(x + 1e-5) - loss(x - 1e-5)) / 2e-5;
        expect(at(x, a).gradient[0]).toBeCloseTo(slope, 3);
        expect(at(x, a).loss[0]).toBeCloseTo(loss(x), 4);
      },
    ),
  );
});

test('masked tokens have neither loss nor gradient', () => {
  const trajectory = exampleTrajectory('accepted', { completionMask: [1, 0, 1] });
  const { loss, gradient } = clip()({ logprobs: trajectory.logprobs }, trajectory, [1, 1, 1]);
  expect([...loss]).toEqual([-1, 0, -1]);
  expect([...gradient]).toEqual([-1, 0, -1]);
});

test('aggregations: total weight is one, by token or by trajectory', () => {
  expect(tokenMean()([3, 1])).toEqual([0.25, 0.25]);
  expect(sequenceMean()([3, 1, 0])).toEqual([1 / 6, 1 / 2, 0]);
  expect(tokenMean()([0])).toEqual([0]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (tokens) => {
      for (const weights of [tokenMean()(tokens), sequenceMean()(tokens)])
        expect(weights.reduce((sum, w, i) => sum + w * tokens[i]!, 0)).toBeCloseTo(1, 9);
    }),
  );
});
