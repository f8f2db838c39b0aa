import type { Verdict } from '../core/evidence.js';
import { verdictOf } from '../core/evidence.js';
import type { EvaluationMetrics } from '../core/metrics.js';
import type { Task } from '../core/task.js';
import type { Group } from '../core/trajectory.js';
import { evaluate } from '../eval/index.js';
import { singleTurn } from '../rollout/index.js';
import { withPolicy } from './session.js';
import { referenceProblems, refuseLongPrompts, refuseUnjudged } from './task-source.js';

export interface SamplingConfig {
  readonly model: string;
  readonly seed: number;
  readonly temperature: number;
  readonly maxNewTokens: number;
  readonly threads: number;
  readonly workers: number;
}

/** pass@k of a checkpoint on tasks; `warn` hears of references that fail their own tests; `tasksFor` sees which languages can be judged before it chooses. */
export async function evaluatePolicy(
  config: SamplingConfig & { readonly samples: number; readonly ks: readonly number[]; readonly split: string },
  tasksFor: (languages: readonly string[]) => readonly Task[],
  onProgress: (done: number, total: number) => void,
  warn: (message: string) => void,
): Promise<{ readonly metrics: EvaluationMetrics; readonly groups: readonly Group[] }> {
  return withPolicy(config, async (policy, verifier) => {
    const rollout = singleTurn(policy, verifier, {
      seed: config.seed,
      stream: 'evaluate',
      key: (spec) => spec.task.id,
      maxNewTokens: config.maxNewTokens,
    });
    const tasks = tasksFor(verifier.languages);
    refuseLongPrompts('evaluation', tasks, policy);
    // Generated tasks are known to be passed by their references.
    if (config.split === 'file') for (const problem of await referenceProblems(tasks, verifier)) warn(problem);
    return evaluate(rollout, tasks, {
      split: config.split,
      step: policy.version,
      samples: config.samples,
      ks: config.ks,
      temperature: config.temperature,
      seed: config.seed,
      batch: Math.max(1, Math.floor(256 / config.samples)),
      onProgress,
    });
  });
}

/** How many programs ended in each verdict. */
export function verdictCounts(groups: readonly Group[]): { [verdict in Verdict]?: number } {
  const counts: { [verdict in Verdict]?: number } = {};
  for (const { trajectories } of groups)
    for (const { evidence } of trajectories) {
      const verdict = verdictOf(evidence);
      counts[verdict] = (counts[verdict] ?? 0) + 1;
    }
  return counts;
}

/** Samples a task `n` times and judges each program. */
export async function sampleTask(
  config: SamplingConfig,
  taskFor: (languages: readonly string[]) => Task,
  n: number,
): Promise<Group> {
  return withPolicy(config, async (policy, verifier) => {
    const rollout = singleTurn(policy, verifier, {
      seed: config.seed,
      stream: 'sample',
      maxNewTokens: config.maxNewTokens,
    });
    const task = taskFor(verifier.languages);
    refuseUnjudged(task.language, verifier.languages, `task ${task.id} is`);
    refuseLongPrompts('sample', [task], policy);
    const [group] = await rollout(0, [{ task, groupSize: n, temperature: config.temperature }]);
    return group as Group;
  });
}
