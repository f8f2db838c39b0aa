import { VERDICTS, type Verdict, verdictOf } from '../core/evidence.js';
import type { StepMetrics } from '../core/metrics.js';
import type { Reward } from '../core/recipe.js';
import type { StepOutcome } from '../core/train.js';

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : sum(values) / values.length);
const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** The metrics of one step; a pure function of what happened in it (docs/metrics.md explains each). */
export function stepMetrics(outcome: StepOutcome): StepMetrics {
  const trajectories = outcome.groups.flatMap((g) => g.trajectories);
  const rewards = outcome.rewards.flat().filter((r): r is Exclude<Reward, 'drop'> => r !== 'drop');
  const verdicts = trajectories.map((t) => verdictOf(t.evidence));
  const count = (verdict: Verdict): number => verdicts.filter((v) => v === verdict).length;
  const judged = verdicts.length - count('infra_error');
  const distinct = outcome.groups.map(
    (g) => new Set(g.trajectories.filter((t) => verdictOf(t.evidence) === 'accepted').map((t) => t.text)).size,
  );
  const partNames = [...new Set(rewards.flatMap((r) => Object.keys(r.parts)))].sort();
  const clipped = outcome.trained.flatMap(({ terms }) => [...terms.clipped]);
  const trainedTokens = outcome.report?.tokens ?? 0;
  return {
    kind: 'step',
    step: outcome.step,
    reward: mean(rewards.map((r) => r.value)),
    rewardParts: Object.fromEntries(partNames.map((name) => [name, mean(rewards.map((r) => r.parts[name] ?? 0))])),
    passRate: share(count('accepted'), judged),
    entropy: mean(trajectories.flatMap((t) => [...t.entropies])),
    distinctSolutions: mean(distinct),
    groups: outcome.groups.length,
    survivingGroups: outcome.surviving,
    trajectories: trajectories.length,
    sampledTokens: sum(trajectories.map((t) => t.completionIds.length)),
    trainedTokens,
    meanLength: mean(trajectories.map((t) => t.completionIds.length)),
    truncated: share(trajectories.filter((t) => t.finish === 'length').length, trajectories.length),
    verdicts: Object.fromEntries(VERDICTS.filter((v) => count(v) > 0).map((v) => [v, count(v)])),
    infraErrors: share(count('infra_error'), verdicts.length),
    hackRate: share(count('hacked'), judged),
    loss: outcome.report?.loss ?? 0,
    gradNorm: outcome.report?.gradNorm ?? 0,
    clippedHigh: share(clipped.filter((c) => c === 1).length, trainedTokens),
    clippedLow: share(clipped.filter((c) => c === -1).length, trainedTokens),
  };
}
