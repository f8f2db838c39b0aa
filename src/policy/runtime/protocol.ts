/** What the policy and its worker say to each other; all of it survives structured cloning. */
import { HoneError } from '../../core/error.js';
import type {
  Completion,
  DistributionOptions,
  OptimiserSettings,
  SampleOptions,
  SampleRequest,
  Score,
  Sequence,
  StepReport,
  TrainSequence,
} from '../../core/policy.js';
import type { CheckpointText, SaveOptions } from '../checkpoint/checkpoint.js';
import type { DecoderConfig } from '../model/config.js';
import type { EngineLimits } from './engine.js';

/** Where the weights come from. */
export type WeightSource =
  | { readonly kind: 'fresh'; readonly seed: number }
  | { readonly kind: 'directory'; readonly directory: string };

/** Each call with its arguments and its result. */
export interface Calls {
  open: {
    args: [config: DecoderConfig, eosId: number, source: WeightSource, limits: EngineLimits];
    result: { readonly parameters: number; readonly version: number };
  };
  sample: {
    args: [requests: readonly SampleRequest[], options: Omit<SampleOptions, 'onProgress'>];
    result: Completion[][];
  };
  score: { args: [sequences: readonly Sequence[], options: DistributionOptions]; result: Score[] };
  step: {
    args: [sequences: readonly TrainSequence[], optimiser: OptimiserSettings, options: DistributionOptions];
    result: StepReport;
  };
  save: { args: [directory: string, text: CheckpointText, options: SaveOptions]; result: undefined };
}
export type Method = keyof Calls;

export interface CallMessage<M extends Method = Method> {
  readonly id: number;
  readonly method: M;
  readonly args: Calls[M]['args'];
}

export type ReplyMessage =
  | { readonly id: number; readonly kind: 'result'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'progress'; readonly tokens: number }
  | { readonly id: number; readonly kind: 'error'; readonly error: ErrorData };

/** An error as plain data: structured cloning would lose the fields of a {@link HoneError}. */
export interface ErrorData {
  readonly message: string;
  readonly stack: string;
  readonly hone?: { readonly code: string; readonly hint: string; readonly exitCode: number };
}

export function errorData(error: unknown): ErrorData {
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof HoneError)) return { message, stack };
  return { message, stack, hone: { code: error.code, hint: error.hint, exitCode: error.exitCode } };
}

export function errorFrom({ message, stack, hone }: ErrorData): Error {
  if (hone !== undefined) return new HoneError(hone.code, message, hone.hint, hone.exitCode);
  const error = new Error(message);
  error.stack = stack;
  return error;
}
