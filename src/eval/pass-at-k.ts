import type { Interval } from '../core/metrics.js';
import { stream } from '../core/seeds.js';

/**
 * Unbiased estimate of the chance that at least one of k samples passes, from n samples of which c passed.
 * Source: Chen et al. 2021 (arXiv 2107.03374, eq. 1), in the product form that does not overflow.
 * Errors: RangeError unless 0 ≤ c ≤ n and 1 ≤ k ≤ n.
 */
export function passAtK(n: number, c: number, k: number): number {
  if (!(Number.isInteger(n) && Number.isInteger(c) && Number.isInteger(k)) || c < 0 || c > n || k < 1 || k > n)
    throw new RangeError(`pass@${k} from ${c} of ${n}`);
  if (n - c < k) return 1;
  let miss = 1;
  for (let i = n - c + 1; i <= n; i++) miss *= 1 - k / i;
  return 1 - miss;
}

/**
 * Mean with a 95 % percentile-bootstrap interval over items (tasks, not samples: samples of a task are not independent).
 * The interval of fewer than two items is [0, 1].
 */
export function bootstrapMean(values: readonly number[], seed: number, resamples = 2000): Interval {
  const n = values.length;
  const value = n === 0 ? 0 : values.reduce((a, b) => a + b, 0) / n;
  if (n < 2) return { value, low: 0, high: 1 };
  const random = stream(seed, 'bootstrap');
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += values[random.int(n)] as number;
    return sum / n;
  }).sort();
  const at = (q: number): number => means[Math.min(resamples - 1, Math.floor(q * resamples))] as number;
  return { value, low: at(0.025), high: at(0.975) };
}
