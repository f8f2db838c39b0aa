import type { Evidence } from './evidence.js';
import type { Task } from './task.js';

/** Why sampling ended: the end token, or the token limit (`length` = truncated). */
export type FinishReason = 'stop' | 'length';

/**
 * One rollout, token-exact: the ids that were sampled and the log-probabilities they were sampled with.
 * Text never turns back into training tokens. Lengths: P prompt ids; T completion ids, mask, logprobs, entropies.
 */
export interface Trajectory {
  readonly version: 1;
  /** `s<step>-g<group>-m<member>`. */
  readonly id: string;
  readonly taskId: string;
  /** Version of the policy that sampled it; equals the number of optimiser steps behind its weights. */
  readonly policyVersion: number;
  readonly promptIds: readonly number[];
  /** Sampled ids, the end token included where it was sampled. */
  readonly completionIds: readonly number[];
  /** 1 where the policy chose the token, 0 for tool output and replayed text. */
  readonly completionMask: readonly (0 | 1)[];
  /** ln π(token) under the temperature it was sampled with. */
  readonly logprobs: readonly number[];
  /** Entropy of the distribution each token was drawn from, nats. */
  readonly entropies: readonly number[];
  readonly text: string;
  readonly finish: FinishReason;
  readonly evidence: readonly Evidence[];
}

/** The trajectories of one prompt. */
export interface Group {
  readonly task: Task;
  readonly trajectories: readonly Trajectory[];
}
