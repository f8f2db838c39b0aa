import { expect, test } from 'vitest';
import { VERDICTS } from '../core/evidence.js';
import { exampleGroup, exampleTrajectory } from '../core/fixtures.testing.js';
import { binary } from './binary.js';

test('only accepted is worth 1, and an infrastructure fault is never a reward', () => {
  const rewards = binary()(exampleGroup(...VERDICTS));
  VERDICTS.forEach((verdict, i) => {
    const reward = rewards[i];
    if (verdict === 'infra_error') expect(reward).toBe('drop');
    else expect(reward).toMatchObject({ value: verdict === 'accepted' ? 1 : 0 });
  });
});

test('a trajectory that was never judged is dropped, not failed', () => {
  const group = { ...exampleGroup(), trajectories: [exampleTrajectory('accepted', { evidence: [] })] };
  expect(binary()(group)).toEqual(['drop']);
});
