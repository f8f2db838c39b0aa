import { HoneError } from './error.js';
import { verdictOf } from './evidence.js';
import type { OptimiserSettings, Policy, StepReport, TrainSequence } from './policy.js';
import type {
  Advantage,
  Aggregation,
  CreditAssigner,
  PolicyLoss,
  Reward,
  RewardFunction,
  RolloutProtocol,
  Scheduler,
  TokenLoss,
} from './recipe.js';
import type { Stopwatch } from './stopwatch.js';
import type { Group, Trajectory } from './trajectory.js';

/** Everything that a training step is made of. */
export interface TrainingParts {
  readonly policy: Policy;
  readonly scheduler: Scheduler;
  readonly rollout: RolloutProtocol;
  readonly reward: RewardFunction;
  readonly advantage: Advantage;
  readonly credit: CreditAssigner;
  readonly loss: PolicyLoss;
  readonly aggregation: Aggregation;
  /** The optimiser's settings at a step; carries the learning-rate schedule. */
  readonly optimiser: (step: number) => OptimiserSettings;
  readonly promptsPerStep: number;
  /** The run stops when a larger share of a step's trajectories ends in `infra_error`. */
  readonly maxInfraShare: number;
}

/** What a step did, for the monitors and the run folder. */
export interface StepOutcome {
  readonly step: number;
  readonly groups: readonly Group[];
  /** Per group and trajectory; `drop` where no reward may be given. */
  readonly rewards: readonly (readonly Reward[])[];
  /** Groups whose rewards differ. */
  readonly surviving: number;
  /** The trajectories trained on, their credit per token and their loss terms. */
  readonly trained: readonly {
    readonly trajectory: Trajectory;
    readonly credit: Float32Array;
    readonly terms: TokenLoss;
  }[];
  /** Absent when no group survived and the weights stayed as they were. */
  readonly report?: StepReport;
}

/** A group without its dropped members, and the rewards of the rest. */
function judged(group: Group, rewards: readonly Reward[]): { group: Group; values: number[] } {
  const kept = group.trajectories.flatMap((trajectory, i) => {
    const reward = rewards[i];
    return reward === undefined || reward === 'drop' ? [] : [{ trajectory, value: reward.value }];
  });
  return { group: { task: group.task, trajectories: kept.map((k) => k.trajectory) }, values: kept.map((k) => k.value) };
}

/** Infrastructure faults are never rewards; too many of them mean that nothing measured here can be trusted. */
function refuseBrokenInfrastructure(step: number, groups: readonly Group[], maxShare: number): void {
  const all = groups.flatMap((g) => g.trajectories);
  const broken = all.filter((t) => verdictOf(t.evidence) === 'infra_error');
  if (all.length === 0 || broken.length / all.length <= maxShare) return;
  const evidence = broken[0]?.evidence.find((e) => e.kind === 'tests');
  throw new HoneError(
    'infra_errors',
    `step ${step}: ${broken.length} of ${all.length} programs could not be judged (${evidence?.message ?? 'no reason given'})`,
    'Fix the sandbox (see `hone doctor`), then continue with --resume; the last checkpoint is intact.',
  );
}

/**
 * The training loop: steps `from` … `to`, one outcome each. Whoever consumes it makes a step durable before asking for
 * the next.
 */
export async function* train(
  from: number,
  to: number,
  parts: TrainingParts,
  stopwatch: Stopwatch,
): AsyncGenerator<StepOutcome, void, undefined> {
  for (let step = from; step <= to; step++) yield await trainStep(step, parts, stopwatch);
}

/**
 * One training step: schedule → roll out and verify → reward → advantage → credit → loss → step → observe.
 * Trajectories of the current policy use the log-probabilities they were sampled with; older ones are scored first.
 * Errors: `infra_errors` and whatever the policy reports (`nan_gradient`); weights are then unchanged.
 */
export async function trainStep(step: number, parts: TrainingParts, stopwatch: Stopwatch): Promise<StepOutcome> {
  const { policy } = parts;
  const specs = parts.scheduler.next(step, parts.promptsPerStep);
  // One temperature a step: what was sampled at it is scored and differentiated at it.
  const options = { temperature: specs[0]?.temperature ?? 1 };
  const groups = await parts.rollout(step, specs);
  refuseBrokenInfrastructure(step, groups, parts.maxInfraShare);

  stopwatch.enter('update');
  const rewards = groups.map(parts.reward);
  const surviving = groups
    .map((group, g) => judged(group, rewards[g] ?? []))
    .filter(({ values }) => values.some((value) => value !== values[0]));

  const credited = surviving.flatMap(({ group, values }) => {
    const scalars = parts.advantage(values);
    return group.trajectories.map((trajectory, i) => {
      const scalar = scalars[i] ?? 0;
      return { trajectory, scalar, credit: parts.credit(trajectory, scalar, group) };
    });
  });
  // Without credit despite an advantage: masked. An advantage of zero still counts among the tokens averaged over.
  const active = credited.filter(({ scalar, credit }) => scalar === 0 || credit.some((c) => c !== 0));

  const stale = active.map(({ trajectory }) => trajectory).filter((t) => t.policyVersion !== policy.version);
  const scores = new Map((await policy.score(stale, options)).map((score, i) => [stale[i], score.logprobs] as const));
  const trained = active.map(({ trajectory, credit }) => ({
    trajectory,
    credit,
    terms: parts.loss({ logprobs: scores.get(trajectory) ?? trajectory.logprobs }, trajectory, credit),
  }));
  const weights = parts.aggregation(
    trained.map(({ trajectory }) => trajectory.completionMask.reduce<number>((n, m) => n + m, 0)),
  );
  const sequences = trained.map(
    ({ trajectory, terms }, i): TrainSequence => ({
      promptIds: trajectory.promptIds,
      completionIds: trajectory.completionIds,
      tokenGradients: terms.gradient.map((g) => g * (weights[i] as number)),
    }),
  );
  // Without a gradient there is no step: momentum alone must not move the weights.
  const informative = sequences.some(({ tokenGradients }) => tokenGradients.some((g) => g !== 0));
  const report = informative ? await policy.step(sequences, parts.optimiser(step), options) : undefined;
  parts.scheduler.observe(groups, rewards);
  return { step, groups, rewards, surviving: surviving.length, trained, ...(report && { report }) };
}
