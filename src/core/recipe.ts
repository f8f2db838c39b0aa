import type { Task } from './task.js';
import type { Group, Trajectory } from './trajectory.js';

/** A trajectory's reward and the named parts it was made of; `drop` where no reward may be given (an infrastructure fault). */
export type Reward = { readonly value: number; readonly parts: { readonly [name: string]: number } } | 'drop';

/** Judges a group from its evidence alone; one entry per trajectory, in order. */
export type RewardFunction = (group: Group) => readonly Reward[];

/** One scalar advantage per reward of a group (G values in, G values out). */
export type Advantage = (rewards_G: readonly number[]) => number[];

/**
 * Spreads a scalar over the completion tokens of a trajectory (T values).
 * Contract: zero where `completionMask` is 0, and over the other tokens the values either sum to the scalar or
 * average to it (mean weight 1); each assigner says which.
 */
export type CreditAssigner = (trajectory: Trajectory, scalar: number, group: Group) => Float32Array;

/** What the current policy says of a trajectory's tokens (T values each). */
export interface TokenStats {
  readonly logprobs: ArrayLike<number>;
  /** ln π under the reference policy, where the loss has a KL term. */
  readonly reference?: ArrayLike<number>;
}

/** Per-token loss terms of one trajectory, before aggregation (T values each; zero where masked). */
export interface TokenLoss {
  readonly loss: Float32Array;
  /** ∂loss_t/∂ln π_t. */
  readonly gradient: Float32Array;
  /** 1 where clipping zeroed the gradient of a token with positive advantage, −1 with negative advantage, else 0. */
  readonly clipped: Int8Array;
}

/** A policy loss and its derivative; needs no autograd. */
export type PolicyLoss = (stats: TokenStats, trajectory: Trajectory, advantages_T: ArrayLike<number>) => TokenLoss;

/** The weight of each token of each trajectory in the batch loss, from the number of unmasked tokens of each. */
export type Aggregation = (tokens_N: readonly number[]) => number[];

/** One prompt of a step with its knobs. */
export interface PromptSpec {
  readonly task: Task;
  readonly groupSize: number;
  readonly temperature: number;
}

/** Chooses which prompts come next. `next` must depend on nothing but the step and what was observed. */
export interface Scheduler {
  /** n prompt specs for a step (steps count from 1). */
  next(step: number, n: number): readonly PromptSpec[];
  observe(groups: readonly Group[], rewards: readonly (readonly Reward[])[]): void;
  /** Plain data that `restore` accepts; stored in every checkpoint. */
  state(): unknown;
  restore(state: unknown): void;
}

/** Produces groups from prompt specs: sampled, verified, evidence attached, token-exact. */
export type RolloutProtocol = (step: number, specs: readonly PromptSpec[]) => Promise<readonly Group[]>;
