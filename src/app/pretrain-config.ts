import { z } from 'zod';
import { checkSettings } from './settings.js';

/** Marks the end of a completion in the base policy's vocabulary. */
export const END_TOKEN = '<|end|>';

const pretrainSchema = z.strictObject({
  seed: z.int().min(0),
  languages: z.array(z.string()).min(1),
  steps: z.int().min(1),
  /** Sequences per optimiser step. */
  batchSize: z.int().min(1),
  learningRate: z.number().positive(),
  warmupSteps: z.int().min(0),
  weightDecay: z.number().min(0),
  /** Share of the corpus whose program contains one realistic mistake. */
  errorRate: z.number().min(0).max(1),
  /** How often tasks of 1, 2, … 5 composed operations are drawn: at the start, and from `rampShare` of the steps on. */
  weightsFrom: z.array(z.number().min(0)).length(5),
  weightsTo: z.array(z.number().min(0)).length(5),
  rampShare: z.number().min(0).max(1),
  vocabSize: z.int().min(300),
  /** Examples that the tokenizer is learnt from. */
  tokenizerExamples: z.int().min(1),
  hiddenSize: z.int().min(8),
  layers: z.int().min(1),
  heads: z.int().min(1),
  intermediateSize: z.int().min(8),
  contextLength: z.int().min(32),
  checkpointEvery: z.int().min(1),
  evaluateEvery: z.int().min(1),
  /** Held-out tasks a row of the card, and completions a task. */
  cardTasks: z.int().min(1),
  cardSamples: z.int().min(64),
  threads: z.int().min(1),
  workers: z.int().min(1),
});
export type PretrainConfig = z.infer<typeof pretrainSchema>;

/** What the shipped base policy was made with, on two threads. */
export const PRETRAIN_DEFAULTS: Omit<PretrainConfig, 'threads' | 'workers'> = {
  seed: 1,
  languages: ['javascript', 'python'],
  steps: 4000,
  batchSize: 48,
  learningRate: 3e-3,
  warmupSteps: 100,
  weightDecay: 0.05,
  errorRate: 0.3,
  weightsFrom: [8, 4, 1, 0.3, 0.1],
  weightsTo: [3, 5, 4, 2, 1],
  rampShare: 0.4,
  vocabSize: 1024,
  tokenizerExamples: 6000,
  hiddenSize: 128,
  layers: 6,
  heads: 2,
  intermediateSize: 352,
  contextLength: 512,
  checkpointEvery: 200,
  evaluateEvery: 500,
  cardTasks: 100,
  cardSamples: 64,
};

export interface LossPoint {
  readonly step: number;
  /** Mean negative log-probability per completion token since the point before, nats. */
  readonly loss: number;
  readonly learningRate: number;
}

export type PretrainEvent =
  | { readonly type: 'start'; readonly directory: string; readonly parameters: number; readonly resumedFrom?: number }
  | {
      readonly type: 'step';
      readonly step: number;
      readonly steps: number;
      readonly loss: number;
      readonly tokensPerSecond: number;
    }
  | { readonly type: 'evaluation'; readonly step: number; readonly passAt1: number; readonly passAt8: number }
  | { readonly type: 'measure'; readonly done: number; readonly total: number }
  | { readonly type: 'done'; readonly directory: string; readonly seconds: number };

/** Pass rates on the held-out tasks of a range of difficulties. */
export interface PassRow {
  readonly language: string;
  readonly difficulty: readonly [number, number];
  readonly tasks: number;
  readonly passAt: { readonly [k: string]: number };
}

/** Linear warm-up, then a cosine to a tenth of the peak. */
export function learningRateAt(
  step: number,
  config: Pick<PretrainConfig, 'steps' | 'learningRate' | 'warmupSteps'>,
): number {
  if (step <= config.warmupSteps) return (config.learningRate * step) / config.warmupSteps;
  const progress = (step - config.warmupSteps) / Math.max(1, config.steps - config.warmupSteps);
  return config.learningRate * (0.1 + 0.45 * (1 + Math.cos(Math.PI * progress)));
}

/** The mixture of difficulties at a step: short programs first, longer ones as the run goes on. */
export function weightsAt(
  step: number,
  config: Pick<PretrainConfig, 'steps' | 'weightsFrom' | 'weightsTo' | 'rampShare'>,
): number[] {
  const share = Math.min(1, step / Math.max(1, config.rampShare * config.steps));
  return config.weightsFrom.map((from, i) => from + share * ((config.weightsTo[i] as number) - from));
}

/** Checks settings before anything starts. Errors: `bad_setting` naming the field. */
export function checkPretrainConfig(settings: PretrainConfig): PretrainConfig {
  return checkSettings(pretrainSchema, settings, 'pretrain');
}
