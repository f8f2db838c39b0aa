import type { LimitKind, Limits } from '../limits.js';
import type { Assertion, Failure } from '../sandbox.js';

/** What the pool asks of a worker. Texts are wire texts (`wire.ts`). */
export interface Job {
  readonly id: number;
  readonly source: string;
  readonly entryPoint: string;
  readonly limits: Limits;
  readonly work:
    | { readonly kind: 'calls'; readonly calls: readonly string[]; readonly stopOnThrow: boolean }
    | { readonly kind: 'judge'; readonly source: string; readonly helpers: string };
}

export type WireOutcome =
  | { readonly kind: 'returned'; readonly text: string }
  | { readonly kind: 'threw'; readonly message: string }
  | { readonly kind: 'limit'; readonly limit: LimitKind; readonly message: string };

export interface Outcome {
  readonly failure?: Failure;
  readonly calls: readonly WireOutcome[];
  readonly assertions: readonly Assertion[];
  readonly stdout: string;
  readonly peakBytes?: number;
}

export interface Reply extends Outcome {
  readonly kind: 'reply';
  readonly id: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

export interface Ready {
  readonly kind: 'ready';
  /** Kernel id of the worker's thread, 0 where unknown. */
  readonly thread: number;
}
