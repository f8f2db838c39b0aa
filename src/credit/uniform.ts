import type { CreditAssigner } from '../core/recipe.js';

/** Gives every sampled token the whole scalar (mean weight 1), as GRPO does. */
export function uniform(): CreditAssigner {
  return (trajectory, scalar) => Float32Array.from(trajectory.completionMask, (m) => (m === 1 ? scalar : 0));
}

/**
 * Zero credit for trajectories that the token limit cut off; `inner` for the rest.
 * Source: overlong filtering, DAPO (arXiv 2503.14476, §3.4).
 */
export function maskTruncated(inner: CreditAssigner): CreditAssigner {
  return (trajectory, scalar, group) =>
    trajectory.finish === 'length'
      ? new Float32Array(trajectory.completionIds.length)
      : inner(trajectory, scalar, group);
}
