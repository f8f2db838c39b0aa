import type { Aggregation } from '../core/recipe.js';

/** Every token of the batch weighs the same: 1 / number of tokens (DAPO, arXiv 2503.14476, eq. 12). */
export function tokenMean(): Aggregation {
  return (tokens_N) => {
    const total = tokens_N.reduce((sum, n) => sum + n, 0);
    return tokens_N.map(() => (total === 0 ? 0 : 1 / total));
  };
}

/** Every trajectory weighs the same: 1 / (trajectories · its tokens) (GRPO, arXiv 2402.03300, eq. 3). */
export function sequenceMean(): Aggregation {
  return (tokens_N) => {
    const present = tokens_N.filter((n) => n > 0).length;
    return tokens_N.map((n) => (n === 0 ? 0 : 1 / (present * n)));
  };
}
