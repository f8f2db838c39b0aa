import type { RunEvent } from '../core/events.js';
import type { Policy } from '../core/policy.js';
import type { PromptSpec, RolloutProtocol } from '../core/recipe.js';
import type { RunDirectory } from '../core/run-directory.js';
import type { Stopwatch } from '../core/stopwatch.js';
import type { Verifier } from '../core/verifier.js';
import { loadPolicy } from '../policy/index.js';
import { singleTurn } from '../rollout/index.js';
import { createVerifier } from '../verify/index.js';
import type { TrainConfig } from './config.js';
import type { TaskSource } from './task-source.js';

export type Emit = (event: RunEvent) => void;

/** An opened run: the live parts that a session needs. */
export interface Session {
  readonly run: RunDirectory;
  readonly config: TrainConfig;
  readonly policy: Policy;
  readonly verifier: Verifier;
  readonly source: TaskSource;
  readonly emit: Emit;
  readonly stopwatch: Stopwatch;
  /** `performance.now()` when this session began. */
  readonly began: number;
  /** What earlier sessions of the run took. */
  readonly secondsBefore: number;
  /** What the time left is reckoned from; set once the loop begins. */
  readonly pace: { from: number; loopBegan: number; evaluationSeconds: number };
}

/** Rollouts of this session on a named random stream; the stopwatch learns when sampling ends and verifying begins. */
export function rollouts(session: Session, stream: string, report: boolean): RolloutProtocol {
  const { policy, verifier, config, stopwatch, emit } = session;
  const rollout = singleTurn(policy, verifier, {
    seed: config.seed,
    stream,
    maxNewTokens: config.maxNewTokens,
    onPhase: (phase) => stopwatch.enter(phase),
    ...(stream === 'evaluate' && { key: (spec: PromptSpec) => spec.task.id }),
    ...(report && {
      onProgress: ({ phase, done, total }) =>
        emit({ type: 'progress', phase, done, total, unit: phase === 'sample' ? 'tokens' : 'programs' }),
    }),
  });
  return rollout;
}

/** Opens a policy and a verifier for `body` and closes both whatever happens. */
export async function withPolicy<T>(
  config: { readonly model: string; readonly threads: number; readonly workers: number },
  body: (policy: Policy, verifier: Verifier) => Promise<T>,
): Promise<T> {
  const verifier = await createVerifier({ workers: config.workers });
  try {
    const policy = await loadPolicy(config.model, { threads: config.threads });
    try {
      return await body(policy, verifier);
    } finally {
      await policy.close();
    }
  } finally {
    await verifier.close();
  }
}
