import { expect, test } from 'vitest';
import { learningRateOf } from './config.js';

test('the learning rate warms up, then falls linearly to its final share', () => {
  const config = { steps: 12, learningRate: 1, warmupSteps: 2, finalLearningRateShare: 0.1 };
  expect([1, 2, 7, 12].map((step) => learningRateOf(step, config))).toEqual([
    0.5,
    1,
    expect.closeTo(0.55),
    expect.closeTo(0.1),
  ]);
  expect(learningRateOf(1, { ...config, warmupSteps: 0, steps: 1 })).toBeCloseTo(0.1);
});
