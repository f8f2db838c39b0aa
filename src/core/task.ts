import type { Value } from './value.js';

/** A programming language as the policy and the sandbox name it, e.g. `javascript`, `python`. */
export type Language = string;

/** One call of the entry point: `args` go in as data, `expected` never leaves the verifier. */
export interface CallTest {
  readonly args: readonly Value[];
  readonly expected: Value;
}

/** What decides whether a program is right. Hidden tests are never shown to the policy nor to the program. */
export type TestSuite =
  /** Call the entry point with data and compare the results outside the program's process. */
  | { readonly kind: 'calls'; readonly cases: readonly CallTest[] }
  /** HumanEval-style test code in the task's language, run apart from the program, which it reaches only by calls. */
  | { readonly kind: 'asserts'; readonly source: string };

/** One programming task in one language. Plain data; this is also the row format of a task file (docs/tasks.md). */
export interface Task {
  readonly version: 1;
  /** Unique within its source; stable across runs. */
  readonly id: string;
  readonly language: Language;
  /** What the program must do, in natural language. */
  readonly description: string;
  /** Name of the function that the tests call. */
  readonly entryPoint: string;
  /** Text given to the policy; the completion continues it, and prompt + completion is the program. */
  readonly prompt: string;
  /** Examples shown in the prompt. */
  readonly visible: readonly CallTest[];
  readonly hidden: TestSuite;
  /** A completion known to pass, if there is one. */
  readonly reference?: string;
  /** Number of composed operations (1–5) for generated tasks. */
  readonly difficulty?: number;
}
