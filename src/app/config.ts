import { z } from 'zod';
import { HoneError } from '../core/error.js';
import { checkSettings } from './settings.js';

/** Where the tasks of a run come from. */
const taskSource = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('synth'),
    languages: z.array(z.string()).min(1),
    difficulty: z.tuple([z.int().min(1).max(5), z.int().min(1).max(5)]),
    /** Split that evaluations use; `validation` while tuning, `heldout` when reporting. */
    evaluate: z.enum(['validation', 'heldout']),
  }),
  z.strictObject({
    kind: z.literal('file'),
    path: z.string(),
    onBadLine: z.enum(['refuse', 'skip']),
    /** SHA-256 of the file when the run began; a resumed run refuses another content. */
    sha256: z.string(),
    /** Share of the tasks that is held out for evaluation and never trained on. */
    holdout: z.number().min(0).max(0.9),
  }),
]);

/** Everything that decides what a training run does; stored in run.json. */
export const trainConfig = z.strictObject({
  model: z.string(),
  tasks: taskSource,
  seed: z.int().min(0),
  steps: z.int().min(1),
  promptsPerStep: z.int().min(1),
  groupSize: z.int().min(2),
  maxNewTokens: z.int().min(1),
  temperature: z.number().positive(),
  learningRate: z.number().positive(),
  /** Steps over which the learning rate rises linearly from zero. */
  warmupSteps: z.int().min(0),
  /** The learning rate falls linearly from its peak to this share of it at the last step. */
  finalLearningRateShare: z.number().min(0).max(1),
  weightDecay: z.number().min(0),
  maxGradNorm: z.number().positive(),
  clipLow: z.number().min(0).max(1),
  clipHigh: z.number().min(0),
  /** Steps between evaluations on held-out tasks; 0 = only before and after. */
  evaluateEvery: z.int().min(0),
  evaluationTasks: z.int().min(1),
  /** Samples per task in the evaluations before and after. */
  evaluationSamples: z.int().min(1),
  /** Samples per task in the evaluations on the way. */
  interimSamples: z.int().min(1),
  checkpointEvery: z.int().min(1),
  keepCheckpoints: z.int().min(1),
  maxInfraShare: z.number().min(0).max(1),
  threads: z.int().min(1),
  workers: z.int().min(1),
});
export type TrainConfig = z.infer<typeof trainConfig>;
export type TaskSourceConfig = TrainConfig['tasks'];

/** Checks settings before anything starts. Errors: `bad_setting` naming the field. */
export function checkTrainConfig(settings: TrainConfig): TrainConfig {
  return checkSettings(trainConfig, settings, 'train');
}

/** Parses the configuration found in a run folder. Errors: `run_damaged` naming the field. */
export function parseTrainConfig(value: unknown, file: string): TrainConfig {
  try {
    return checkTrainConfig(value as TrainConfig);
  } catch (error) {
    throw new HoneError('run_damaged', `${file}: field config.${(error as Error).message}`, 'Start a new run.');
  }
}

/** Linear warm-up to the peak, then a linear fall to its final share. */
export function learningRateOf(
  step: number,
  config: Pick<TrainConfig, 'steps' | 'learningRate' | 'warmupSteps' | 'finalLearningRateShare'>,
): number {
  const { steps, learningRate, warmupSteps, finalLearningRateShare } = config;
  if (step <= warmupSteps) return (learningRate * step) / warmupSteps;
  const progress = (step - warmupSteps) / Math.max(1, steps - warmupSteps);
  return learningRate * (1 - (1 - finalLearningRateShare) * progress);
}

/** Defaults of the main job; design reasons in docs/training.md. */
export const DEFAULTS = {
  seed: 1,
  steps: 85,
  promptsPerStep: 48,
  groupSize: 8,
  maxNewTokens: 96,
  temperature: 1,
  learningRate: 5e-4,
  warmupSteps: 2,
  finalLearningRateShare: 0.1,
  weightDecay: 0,
  maxGradNorm: 1,
  clipLow: 0.2,
  clipHigh: 0.28,
  evaluateEvery: 20,
  evaluationTasks: 200,
  evaluationSamples: 16,
  interimSamples: 4,
  checkpointEvery: 1,
  keepCheckpoints: 2,
  maxInfraShare: 0.2,
} as const satisfies Partial<TrainConfig>;

/** Composed operations of the main job's tasks. */
export const DEFAULT_DIFFICULTY: readonly [number, number] = [2, 3];
