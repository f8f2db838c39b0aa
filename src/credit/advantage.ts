import type { Advantage } from '../core/recipe.js';

const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;

/**
 * Group-relative advantage: r − mean(r), divided by the group's standard deviation if `std`.
 * Source: GRPO (arXiv 2402.03300, eq. 2) with `std: true`; Dr. GRPO (arXiv 2503.20783, §3.2) with `std: false`.
 * The deviation is the population one with 1e-6 added, so that a group of equal rewards gives zeros.
 */
export function grpo(options: { readonly std: boolean } = { std: false }): Advantage {
  return (rewards_G) => {
    if (rewards_G.length === 0) return [];
    const centre = mean(rewards_G);
    const centred = rewards_G.map((r) => r - centre);
    if (!options.std) return centred;
    const deviation = Math.sqrt(mean(centred.map((a) => a * a)));
    return centred.map((a) => a / (deviation + 1e-6));
  };
}

/**
 * Leave-one-out advantage: r_i − mean of the others' rewards; zero for a group of one.
 * Source: RLOO (arXiv 2402.14740, eq. 8).
 */
export function rloo(): Advantage {
  return (rewards_G) => {
    const n = rewards_G.length;
    if (n < 2) return rewards_G.map(() => 0);
    const centre = mean(rewards_G);
    return rewards_G.map((r) => ((r - centre) * n) / (n - 1));
  };
}
