import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleGroup, exampleTrajectory } from '../core/fixtures.testing.js';
import { maskTruncated, uniform } from './uniform.js';

test('contract: zero where masked, mean weight 1 elsewhere', () => {
  const mask = fc.array(fc.constantFrom<0 | 1>(0, 1), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(mask, fc.float({ min: -4, max: 4, noNaN: true }), (completionMask, scalar) => {
      const trajectory = exampleTrajectory('accepted', { completionMask }, completionMask.length);
      const credit = [...uniform()(trajectory, scalar, exampleGroup('accepted'))];
      const open = credit.filter((_, t) => completionMask[t] === 1);
      expect(credit.filter((_, t) => completionMask[t] === 0).every((c) => c === 0)).toBe(true);
      if (open.length > 0) expect(open.reduce((a, b) => a + b, 0) / open.length).toBeCloseTo(scalar, 4);
    }),
  );
});

test('a truncated trajectory gets no credit, a finished one all of it', () => {
  const credit = maskTruncated(uniform());
  const group = exampleGroup('wrong_answer');
  expect([...credit(exampleTrajectory('wrong_answer', { finish: 'length' }), -0.5, group)]).toEqual([0, 0, 0]);
  expect([...credit(exampleTrajectory('wrong_answer'), -0.5, group)]).toEqual([-0.5, -0.5, -0.5]);
});
