import type { EvaluationMetrics, StepMetrics, StepTiming } from './metrics.js';

/** What a run will cost, extrapolated from a timed probe. */
export interface Estimate {
  readonly steps: number;
  readonly minutes: number;
  readonly sampledTokens: number;
  readonly programs: number;
  readonly sandboxSeconds: number;
}

/** A held-out task that the base policy failed in every sample and the trained policy solved. */
export interface SolvedExample {
  readonly taskId: string;
  readonly prompt: string;
  /** A completion of the base policy and its verdict. */
  readonly before: string;
  readonly beforeVerdict: string;
  readonly after: string;
}

/** Everything a run tells whoever watches it, in order. */
export type RunEvent =
  | {
      readonly type: 'start';
      readonly directory: string;
      readonly resumedFrom?: number;
      readonly policy: { readonly directory: string; readonly parameters: number };
      readonly languages: readonly string[];
    }
  | { readonly type: 'estimate'; readonly estimate: Estimate }
  /** Inside something longer than two seconds; `done` of `total` in `unit`. */
  | {
      readonly type: 'progress';
      readonly phase: 'probe' | 'evaluate' | 'sample' | 'verify' | 'update';
      readonly done: number;
      readonly total: number;
      readonly unit: string;
    }
  | {
      readonly type: 'step';
      readonly metrics: StepMetrics;
      readonly timing: StepTiming;
      /** Number of the last step. */
      readonly steps: number;
      readonly secondsLeft: number;
    }
  | { readonly type: 'evaluation'; readonly metrics: EvaluationMetrics }
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'summary';
      readonly directory: string;
      readonly checkpoint: string;
      /** The task file, where the run had one. */
      readonly tasks?: string;
      readonly base: EvaluationMetrics;
      readonly trained: EvaluationMetrics;
      readonly solved: readonly SolvedExample[];
      readonly seconds: number;
      readonly sampledTokens: number;
    };
