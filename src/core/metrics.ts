import type { Verdict } from './evidence.js';

/** An estimate with its 95 % confidence interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** What one training step reports; a pure function of the seed, explained in docs/metrics.md. */
export interface StepMetrics {
  readonly kind: 'step';
  readonly step: number;
  /** Mean reward over all judged trajectories. */
  readonly reward: number;
  /** Mean of each named reward part. */
  readonly rewardParts: { readonly [name: string]: number };
  /** Share of judged trajectories that were accepted. */
  readonly passRate: number;
  /** Mean entropy per sampled token, nats. */
  readonly entropy: number;
  /** Mean number of different accepted programs in a group. */
  readonly distinctSolutions: number;
  readonly groups: number;
  /** Groups whose rewards differ and which therefore carry a gradient. */
  readonly survivingGroups: number;
  readonly trajectories: number;
  readonly sampledTokens: number;
  /** Tokens that carried a gradient. */
  readonly trainedTokens: number;
  readonly meanLength: number;
  /** Share of trajectories cut off by the token limit. */
  readonly truncated: number;
  readonly verdicts: { readonly [verdict in Verdict]?: number };
  /** Share of trajectories dropped because of an infrastructure fault. */
  readonly infraErrors: number;
  /** Share of trajectories flagged as reward hacking. */
  readonly hackRate: number;
  readonly loss: number;
  readonly gradNorm: number;
  /** Shares of trained tokens whose gradient clipping removed. */
  readonly clippedHigh: number;
  readonly clippedLow: number;
}

/** An evaluation on a fixed task set. */
export interface EvaluationMetrics {
  readonly kind: 'evaluation';
  readonly step: number;
  readonly split: string;
  readonly tasks: number;
  /** Completions per task. */
  readonly samples: number;
  readonly temperature: number;
  /** pass@k by k, unbiased, bootstrap interval over tasks. */
  readonly passAt: { readonly [k: string]: Interval };
  readonly infraErrors: number;
}

/** Wall-clock times of a step in seconds; kept apart from the metrics because they never repeat. */
export interface StepTiming {
  readonly step: number;
  readonly sampleSeconds: number;
  readonly verifySeconds: number;
  readonly updateSeconds: number;
  /** Evaluation, recording, checkpoint. */
  readonly otherSeconds: number;
  readonly tokensPerSecond: number;
  readonly programsPerSecond: number;
}
