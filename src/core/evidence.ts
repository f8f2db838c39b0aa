import type { Value } from './value.js';

/** How a program fared. Order carries no meaning; docs/verdicts.md says when each is given. */
export const VERDICTS = [
  'accepted',
  'wrong_answer',
  'runtime_error',
  'compile_error',
  'no_code',
  'time_limit',
  'memory_limit',
  'output_limit',
  'forbidden',
  'hacked',
  'infra_error',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The outcome of one hidden test. */
export interface TestResult {
  readonly verdict: Verdict;
  /** What the program returned, if it returned data. For people and later analysis; never shown to the policy. */
  readonly actual?: Value;
  readonly message?: string;
}

/** What was learnt about a trajectory. Rewards and credit are pure functions of it, so a stored run can be re-scored. */
export type Evidence =
  /** The last rung of the ladder that was reached, and whether it passed. */
  | { readonly kind: 'rung'; readonly rung: 'parse' | 'compile' | 'run' | 'test' | 'measure'; readonly passed: boolean }
  | {
      readonly kind: 'tests';
      readonly verdict: Verdict;
      readonly results: readonly TestResult[];
      readonly passed: number;
      readonly total: number;
      /** CPU time in milliseconds, whole program. Kept out of anything that must be reproducible. */
      readonly cpuMs: number;
      readonly wallMs: number;
      /** Peak memory in bytes where the backend can tell. */
      readonly peakBytes?: number;
      /** Name and version of what ran the program, e.g. `quickjs 2024-01-13`. */
      readonly toolchain: string;
      /** Hash of (program, tests, toolchain, limits): equal keys have equal verdicts. */
      readonly key: string;
      readonly cached: boolean;
      readonly message?: string;
    }
  | { readonly kind: 'measure'; readonly name: string; readonly value: number; readonly unit: string }
  | {
      readonly kind: 'trace';
      readonly steps: readonly { readonly line: number; readonly variables: { readonly [name: string]: Value } }[];
    }
  | {
      readonly kind: 'finding';
      readonly rule: string;
      readonly line: number;
      readonly column: number;
      readonly message: string;
    }
  | { readonly kind: 'answer'; readonly value: Value }
  | { readonly kind: 'score'; readonly source: string; readonly value: number; readonly std: number }
  | { readonly kind: 'flag'; readonly name: string; readonly detail: string };

export type TestsEvidence = Extract<Evidence, { kind: 'tests' }>;

/** The verdict of the tests rung, or `infra_error` where a trajectory has none. */
export function verdictOf(evidence: readonly Evidence[]): Verdict {
  return evidence.find((e): e is TestsEvidence => e.kind === 'tests')?.verdict ?? 'infra_error';
}
