import { HoneError } from '../core/error.js';
import { verdictOf } from '../core/evidence.js';
import type { EvaluationMetrics } from '../core/metrics.js';
import type { RolloutProtocol } from '../core/recipe.js';
import type { Task } from '../core/task.js';
import type { Group } from '../core/trajectory.js';
import { bootstrapMean, passAtK } from './pass-at-k.js';

export interface EvaluationOptions {
  readonly split: string;
  /** Step of the policy under evaluation; evaluations of a run draw the same streams at every step. */
  readonly step: number;
  /** Completions per task (n ≥ the largest k). */
  readonly samples: number;
  readonly ks: readonly number[];
  readonly temperature: number;
  readonly seed: number;
  /** Tasks per rollout call; bounds memory and has no influence on what is sampled. */
  readonly batch?: number;
  /** Largest share of programs that may be lost to the infrastructure; default 0.2. */
  readonly maxInfraShare?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Evaluation {
  readonly metrics: EvaluationMetrics;
  readonly groups: readonly Group[];
}

/** Summarises judged groups; samples lost to the infrastructure leave their task's n, and a task without any is left out. */
export function summarise(
  groups: readonly Group[],
  options: Omit<EvaluationOptions, 'batch' | 'maxInfraShare' | 'onProgress'>,
): EvaluationMetrics {
  const counts = groups.map((g) => {
    const verdicts = g.trajectories.map((t) => verdictOf(t.evidence));
    return {
      n: verdicts.filter((v) => v !== 'infra_error').length,
      c: verdicts.filter((v) => v === 'accepted').length,
    };
  });
  const total = groups.reduce((n, g) => n + g.trajectories.length, 0);
  const judged = counts.reduce((n, task) => n + task.n, 0);
  const passAt = options.ks.map((k) => {
    const values = counts.filter(({ n }) => n >= k).map(({ n, c }) => passAtK(n, c, k));
    return [String(k), bootstrapMean(values, options.seed)] as const;
  });
  return {
    kind: 'evaluation',
    step: options.step,
    split: options.split,
    tasks: groups.length,
    samples: options.samples,
    temperature: options.temperature,
    passAt: Object.fromEntries(passAt),
    infraErrors: total === 0 ? 0 : (total - judged) / total,
  };
}

/**
 * Samples every task `samples` times, judges, and estimates pass@k with 95 % intervals over tasks.
 * Errors: `infra_errors` when more than `maxInfraShare` of the programs could not be judged.
 */
export async function evaluate(
  rollout: RolloutProtocol,
  tasks: readonly Task[],
  options: EvaluationOptions,
): Promise<Evaluation> {
  const batch = options.batch ?? 32;
  const groups: Group[] = [];
  for (let start = 0; start < tasks.length; start += batch) {
    const specs = tasks
      .slice(start, start + batch)
      .map((task) => ({ task, groupSize: options.samples, temperature: options.temperature }));
    groups.push(...(await rollout(0, specs)));
    options.onProgress?.(groups.length, tasks.length);
  }
  const metrics = summarise(groups, options);
  if (metrics.infraErrors > (options.maxInfraShare ?? 0.2))
    throw new HoneError(
      'infra_errors',
      `evaluation of ${tasks.length} tasks: ${Math.round(100 * metrics.infraErrors)} % of the programs could not be judged`,
      'Fix the sandbox (see `hone doctor`); a pass rate of the rest would mislead.',
    );
  return { metrics, groups };
}
