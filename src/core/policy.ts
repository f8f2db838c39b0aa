import type { FinishReason } from './trajectory.js';

/** Turns text into ids and back; backed by a Hugging Face `tokenizer.json`. */
export interface Tokenizer {
  readonly vocabSize: number;
  /** The id that ends a completion. */
  readonly eosId: number;
  /**
   * With `addSpecialTokens` the tokenizer's own post-processing is applied, as the begin token that Llama's adds; so
   * encode what opens a sequence: a prompt. Without (the default), nothing is added.
   */
  encode(text: string, options?: EncodeOptions): number[];
  decode(ids: readonly number[]): string;
}

export interface EncodeOptions {
  readonly addSpecialTokens?: boolean;
}

export interface SampleRequest {
  readonly promptIds: readonly number[];
  /** Number of completions (G). */
  readonly n: number;
  /**
   * Names the random streams: completion k draws from stream `[...stream, k]` of the run's seed, so that what is
   * sampled for one request never depends on which other requests share the batch.
   */
  readonly stream: readonly (string | number)[];
}

export interface SampleOptions {
  readonly seed: number;
  readonly temperature: number;
  readonly maxNewTokens: number;
  /** Called with the number of tokens sampled so far. */
  readonly onProgress?: (tokens: number) => void;
}

export interface Completion {
  readonly ids: readonly number[];
  /** ln π(token) under the temperature it was sampled with; T values. */
  readonly logprobs: readonly number[];
  /** Entropy in nats of each distribution drawn from; T values. */
  readonly entropies: readonly number[];
  readonly finish: FinishReason;
}

/** A sequence to score or train on: targets are `completionIds`, given `promptIds` (P ≥ 1). */
export interface Sequence {
  readonly promptIds: readonly number[];
  readonly completionIds: readonly number[];
}

export interface Score {
  /** ln π(token) under the temperature asked for; T values. */
  readonly logprobs: Float32Array;
  /** Entropy in nats of the same distribution; T values. */
  readonly entropies: Float32Array;
}

export interface DistributionOptions {
  /** π = softmax(logits / temperature), above 0; default 1. What was sampled is scored and trained at its temperature. */
  readonly temperature?: number;
}

/** ∂L/∂ln π per completion token (T values); zero where masked. */
export interface TrainSequence extends Sequence {
  readonly tokenGradients: Float32Array;
}

/** AdamW (Loshchilov & Hutter 2019) with global-norm clipping. */
export interface OptimiserSettings {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** Largest global gradient norm; larger gradients are scaled down to it. */
  readonly maxGradNorm: number;
}

export interface StepReport {
  /** Global gradient norm before clipping. */
  readonly gradNorm: number;
  /** Σ over tokens of tokenGradient · ln π, the linearised loss. */
  readonly loss: number;
  /** Tokens that carried a gradient. */
  readonly tokens: number;
}

export interface Capabilities {
  readonly train: boolean;
  readonly entropy: boolean;
  readonly parameters: number;
  readonly contextLength: number;
}

/** What writes programs. All methods may be called again only after the previous call has settled. */
export interface Policy {
  readonly tokenizer: Tokenizer;
  readonly capabilities: Capabilities;
  /** Optimiser steps behind the current weights. */
  readonly version: number;
  sample(requests: readonly SampleRequest[], options: SampleOptions): Promise<Completion[][]>;
  score(sequences: readonly Sequence[], options?: DistributionOptions): Promise<Score[]>;
  /**
   * Back-propagates the given token gradients and takes one optimiser step.
   * Errors: `nan_gradient` when the gradient is not finite; weights and optimiser state are then unchanged.
   * `diverged` when the step made the weights too large to compute with; every later call is then refused alike.
   */
  step(
    sequences: readonly TrainSequence[],
    optimiser: OptimiserSettings,
    options?: DistributionOptions,
  ): Promise<StepReport>;
  /** Writes config.json, model.safetensors, tokenizer.json and, with `optimiser`, optimizer.safetensors and its step. */
  save(
    directory: string,
    options?: { readonly optimiser?: boolean; readonly dtype?: 'float32' | 'float16' },
  ): Promise<void>;
  close(): Promise<void>;
}
