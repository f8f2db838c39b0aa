import type { PolicyLoss } from '../core/recipe.js';

export interface ClipOptions {
  /** Lower bound of the ratio is 1 − clipLow. */
  readonly clipLow: number;
  /** Upper bound of the ratio is 1 + clipHigh. */
  readonly clipHigh: number;
}

/**
 * Clipped surrogate: loss_t = −min(ρA, clip(ρ, 1−clipLow, 1+clipHigh)·A), ρ = π/π_old per token.
 * ∂loss/∂ln π = −ρA where the unclipped term is the smaller one, else 0.
 * Source: PPO (arXiv 1707.06347, eq. 7); the higher upper bound from DAPO (arXiv 2503.14476, §3.1).
 */
export function clip(options: ClipOptions = { clipLow: 0.2, clipHigh: 0.28 }): PolicyLoss {
  const low = 1 - options.clipLow;
  const high = 1 + options.clipHigh;
  return (stats, trajectory, advantages_T) => {
    const T = trajectory.completionIds.length;
    const loss = new Float32Array(T);
    const gradient = new Float32Array(T);
    const clipped = new Int8Array(T);
    for (let t = 0; t < T; t++) {
      const advantage = advantages_T[t] as number;
      if (trajectory.completionMask[t] !== 1 || advantage === 0) continue;
      const ratio = Math.exp((stats.logprobs[t] as number) - (trajectory.logprobs[t] as number));
      const bounded = Math.min(Math.max(ratio, low), high);
      loss[t] = -Math.min(ratio * advantage, bounded * advantage);
      if (ratio * advantage <= bounded * advantage) gradient[t] = -ratio * advantage;
      else clipped[t] = advantage > 0 ? 1 : -1;
    }
    return { loss, gradient, clipped };
  };
}
