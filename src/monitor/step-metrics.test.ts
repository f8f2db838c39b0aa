import { expect, test } from 'vitest';
import { exampleGroup, exampleTrajectory } from '../core/fixtures.testing.js';
import type { Reward } from '../core/recipe.js';
import { stepMetrics } from './step-metrics.js';

const reward = (value: number): Reward => ({ value, parts: { tests: value } });
const terms = { loss: new Float32Array(3), gradient: new Float32Array(3), clipped: Int8Array.of(1, -1, 0) };

test('by hand: two groups, one lost program, one truncated', () => {
  const first = exampleGroup('accepted', 'wrong_answer', 'accepted', 'infra_error');
  const second = {
    ...exampleGroup(),
    trajectories: [exampleTrajectory('time_limit', { finish: 'length', entropies: [0, 0, 0] })],
  };
  const metrics = stepMetrics({
    step: 3,
    groups: [first, second],
    rewards: [[reward(1), reward(0), reward(1), 'drop'], [reward(0)]],
    surviving: 1,
    trained: [{ trajectory: first.trajectories[0]!, credit: new Float32Array(3), terms }],
    report: { gradNorm: 2, loss: -0.5, tokens: 3 },
  });
  expect(metrics).toMatchObject({
    step: 3,
    reward: 0.5,
    rewardParts: { tests: 0.5 },
    passRate: 0.5,
    // Both accepted programs have the same text.
    distinctSolutions: 0.5,
    groups: 2,
    survivingGroups: 1,
    trajectories: 5,
    sampledTokens: 15,
    trainedTokens: 3,
    meanLength: 3,
    truncated: 0.2,
    verdicts: { accepted: 2, wrong_answer: 1, time_limit: 1, infra_error: 1 },
    infraErrors: 0.2,
    gradNorm: 2,
    clippedHigh: 1 / 3,
    clippedLow: 1 / 3,
  });
  expect(metrics.entropy).toBeCloseTo((12 * Math.log(2)) / 15, 9);
});

test('a step without any program has finite metrics', () => {
  const metrics = stepMetrics({ step: 1, groups: [], rewards: [], surviving: 0, trained: [] });
  for (const value of Object.values(metrics)) if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
});
