import { verdictOf } from '../core/evidence.js';
import type { Reward, RewardFunction } from '../core/recipe.js';

/**
 * 1 for a program that passes every hidden test, else 0; dropped where the infrastructure failed.
 * Source: the averaged pass rate is no better in critic-free RL and loses diversity (arXiv 2605.02944).
 */
export function binary(): RewardFunction {
  return (group) =>
    group.trajectories.map((trajectory): Reward => {
      const verdict = verdictOf(trajectory.evidence);
      if (verdict === 'infra_error') return 'drop';
      const value = verdict === 'accepted' ? 1 : 0;
      return { value, parts: { tests: value } };
    });
}
