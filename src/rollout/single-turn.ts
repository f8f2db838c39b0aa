import { HoneError } from '../core/error.js';
import type { Policy } from '../core/policy.js';
import type { PromptSpec, RolloutProtocol } from '../core/recipe.js';
import type { Group, Trajectory } from '../core/trajectory.js';
import type { Verifier } from '../core/verifier.js';

export interface RolloutProgress {
  readonly phase: 'sample' | 'verify';
  readonly done: number;
  readonly total: number;
}

export interface SingleTurnOptions {
  readonly seed: number;
  readonly maxNewTokens: number;
  /** Name of the random streams; runs, probes and evaluations draw from different ones. */
  readonly stream?: string;
  /** Names a prompt's stream within a step; default its place. Evaluations use the task, whatever their batches. */
  readonly key?: (spec: PromptSpec, place: number) => string | number;
  /** Called when sampling begins and when it has ended and verifying begins. */
  readonly onPhase?: (phase: 'sample' | 'verify') => void;
  readonly onProgress?: (progress: RolloutProgress) => void;
}

/** One prompt, one completion, one verdict: samples every group of a step in one batch, then verifies all of it. */
export function singleTurn(policy: Policy, verifier: Verifier, options: SingleTurnOptions): RolloutProtocol {
  const name = options.stream ?? 'sample';
  return async (step, specs) => {
    const temperature = specs[0]?.temperature ?? 1;
    const other = specs.find((spec) => spec.temperature !== temperature);
    if (other)
      throw new HoneError(
        'mixed_temperatures',
        `step ${step}: task ${other.task.id} asks for temperature ${other.temperature}, others for ${temperature}`,
        'Give all prompts of a step one temperature.',
      );
    options.onPhase?.('sample');
    const prompts = specs.map((spec) => policy.tokenizer.encode(spec.task.prompt, { addSpecialTokens: true }));
    const total = specs.reduce((sum, spec) => sum + spec.groupSize, 0);
    const completions = await policy.sample(
      specs.map((spec, g) => ({
        promptIds: prompts[g] as number[],
        n: spec.groupSize,
        stream: [name, step, options.key?.(spec, g) ?? g],
      })),
      {
        seed: options.seed,
        temperature,
        maxNewTokens: options.maxNewTokens,
        onProgress: (done) => options.onProgress?.({ phase: 'sample', done, total: total * options.maxNewTokens }),
      },
    );
    options.onPhase?.('verify');
    let verified = 0;
    return Promise.all(
      specs.map(async ({ task }, g): Promise<Group> => {
        const members = completions[g] ?? [];
        const trajectories = members.map(async (completion, m): Promise<Trajectory> => {
          const text = policy.tokenizer.decode(completion.ids);
          const evidence = await verifier.verify(task, text);
          options.onProgress?.({ phase: 'verify', done: ++verified, total });
          return {
            version: 1,
            id: `s${step}-g${g}-m${m}`,
            taskId: task.id,
            policyVersion: policy.version,
            promptIds: prompts[g] as number[],
            completionIds: completion.ids,
            completionMask: completion.ids.map(() => 1 as const),
            logprobs: completion.logprobs,
            entropies: completion.entropies,
            text,
            finish: completion.finish,
            evidence,
          };
        });
        return { task, trajectories: await Promise.all(trajectories) };
      }),
    );
  };
}
