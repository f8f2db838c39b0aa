import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HoneError } from '../src/core/error.js';
import type { Verdict } from '../src/core/evidence.js';
import { exampleTask, testsEvidence } from '../src/core/fixtures.testing.js';
import type { Policy } from '../src/core/policy.js';
import type { PromptSpec } from '../src/core/recipe.js';
import { Stopwatch } from '../src/core/stopwatch.js';
import type { Task } from '../src/core/task.js';
import { type TrainingParts, trainStep } from '../src/core/train.js';
import type { Verifier } from '../src/core/verifier.js';
import { grpo, maskTruncated, uniform as uniformCredit } from '../src/credit/index.js';
import { uniform } from '../src/curriculum/index.js';
import { clip, tokenMean } from '../src/loss/index.js';
import { stepMetrics } from '../src/monitor/index.js';
import { createPolicy, trainBpe } from '../src/policy/index.js';
import { binary } from '../src/reward/index.js';
import { singleTurn } from '../src/rollout/index.js';

const task: Task = { ...exampleTask('letters'), prompt: 'ab' };

/** A verifier whose verdict is a rule over the completion's text: the loop under test never looks inside a verdict. */
const rule = (verdictFor: (text: string) => Verdict): Verifier => ({
  languages: ['javascript'],
  verify: async (_, completion) => [testsEvidence(verdictFor(completion))],
  close: async () => {},
});

async function tinyPolicy(): Promise<Policy> {
  return createPolicy({
    config: {
      hidden_size: 32,
      num_hidden_layers: 1,
      num_attention_heads: 2,
      intermediate_size: 48,
      vocab_size: 257,
      max_position_embeddings: 32,
      tie_word_embeddings: true,
      eos_token_id: 0,
    },
    tokenizerJson: trainBpe(['ab'], 257, ['<|end|>']),
    seed: 3,
    threads: 1,
  });
}

function loop(policy: Policy, verifier: Verifier, changes: Partial<TrainingParts> = {}): TrainingParts {
  return {
    policy,
    scheduler: uniform(() => task, { groupSize: 16, temperature: 1 }),
    rollout: singleTurn(policy, verifier, { seed: 5, maxNewTokens: 2 }),
    reward: binary(),
    advantage: grpo(),
    credit: uniformCredit(),
    loss: clip(),
    aggregation: tokenMean(),
    optimiser: () => ({ learningRate: 0.02, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 }),
    promptsPerStep: 2,
    maxInfraShare: 0.2,
    ...changes,
  };
}

/** About half of the byte tokens decode to a text that begins below this character. */
const half = (text: string): Verdict => (text < 'a' ? 'accepted' : 'wrong_answer');

describe('the training step', () => {
  let policy: Policy;
  beforeEach(async () => {
    policy = await tinyPolicy();
  });
  afterEach(() => policy.close());

  test('raises the reward of a rule that a policy can learn', async () => {
    const parts = loop(policy, rule(half));
    const rewards: number[] = [];
    for (let step = 1; step <= 25; step++)
      rewards.push(stepMetrics(await trainStep(step, parts, new Stopwatch())).reward);
    const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
    expect(mean(rewards.slice(0, 3))).toBeLessThan(0.7);
    expect(mean(rewards.slice(-3))).toBeGreaterThan(0.9);
    expect(policy.version).toBeGreaterThan(10);
  });

  test('groups without a difference in reward leave the weights alone', async () => {
    const before = policy.version;
    const outcome = await trainStep(
      1,
      loop(
        policy,
        rule(() => 'wrong_answer'),
      ),
      new Stopwatch(),
    );
    expect(outcome.report).toBeUndefined();
    expect(policy.version).toBe(before);
    expect(stepMetrics(outcome)).toMatchObject({ survivingGroups: 0, trainedTokens: 0, reward: 0, gradNorm: 0 });
  });

  test('a lost program is dropped from its group and never counted as a failure', async () => {
    let n = 0;
    const lost = rule(() => (n++ % 16 === 0 ? 'infra_error' : n % 2 === 0 ? 'accepted' : 'wrong_answer'));
    const outcome = await trainStep(1, loop(policy, lost), new Stopwatch());
    const metrics = stepMetrics(outcome);
    expect(outcome.rewards.flat().filter((r) => r === 'drop')).toHaveLength(2);
    expect(outcome.trained).toHaveLength(30);
    expect(metrics.infraErrors).toBeCloseTo(2 / 32, 9);
    expect(metrics.verdicts.infra_error).toBe(2);
  });

  test('too many lost programs stop the run before the weights change', async () => {
    const before = policy.version;
    const broken = trainStep(
      1,
      loop(
        policy,
        rule(() => 'infra_error'),
      ),
      new Stopwatch(),
    );
    await expect(broken).rejects.toThrow(HoneError);
    await expect(broken).rejects.toThrow(/32 of 32 programs could not be judged/);
    expect(policy.version).toBe(before);
  });

  test('truncated trajectories are masked', async () => {
    const parts = loop(policy, rule(half), { credit: maskTruncated(uniformCredit()) });
    const outcome = await trainStep(1, parts, new Stopwatch());
    // Few completions of an untrained policy meet the end token within two tokens.
    expect(stepMetrics(outcome).truncated).toBeGreaterThan(0.5);
    expect(outcome.surviving).toBeGreaterThan(0);
    expect(outcome.trained.every(({ trajectory }) => trajectory.finish === 'stop')).toBe(true);
  });

  test('stale trajectories are scored under the current weights', async () => {
    const fresh = singleTurn(policy, rule(half), { seed: 5, maxNewTokens: 2 });
    const parts = loop(policy, rule(half), {
      rollout: async (step, specs: readonly PromptSpec[]) =>
        (await fresh(step, specs)).map((g) => ({
          ...g,
          trajectories: g.trajectories.map((t) => ({
            ...t,
            policyVersion: -1,
            logprobs: t.logprobs.map((lp) => lp - Math.log(2)),
          })),
        })),
    });
    const outcome = await trainStep(1, parts, new Stopwatch());
    // The sampling policy is said to have given half the probability: every ratio is 2, and only losers keep a gradient.
    for (const { terms } of outcome.trained) for (const g of terms.gradient) expect(g >= 0).toBe(true);
    expect(stepMetrics(outcome).clippedHigh).toBeGreaterThan(0);
  });
});

test('what was sampled at a temperature is trained at it: the ratio of fresh samples is one', async () => {
  const policy = await tinyPolicy();
  try {
    const warm = uniform(() => task, { groupSize: 16, temperature: 0.7 });
    const scored: number[] = [];
    const parts = loop(policy, rule(half), {
      scheduler: warm,
      rollout: async (step, specs) =>
        (await singleTurn(policy, rule(half), { seed: 5, maxNewTokens: 2 })(step, specs)).map((g) => ({
          ...g,
          trajectories: g.trajectories.map((t) => ({ ...t, policyVersion: -1 })),
        })),
      loss: (stats, trajectory, advantages) => {
        trajectory.logprobs.forEach((lp, t) => void scored.push(Math.abs(lp - (stats.logprobs[t] as number))));
        return clip()(stats, trajectory, advantages);
      },
    });
    await trainStep(1, parts, new Stopwatch());
    expect(scored.length).toBeGreaterThan(0);
    expect(Math.max(...scored)).toBeLessThan(1e-5);
  } finally {
    await policy.close();
  }
});

test('a group does not depend on which other groups share its batch', async () => {
  const policy = await tinyPolicy();
  try {
    const rollout = singleTurn(policy, rule(half), { seed: 5, maxNewTokens: 2 });
    const spec = { task, groupSize: 4, temperature: 1 };
    const [alone] = await rollout(1, [spec]);
    const [together] = await rollout(1, [spec, { ...spec, task: { ...task, prompt: 'b' } }, spec]);
    expect(together?.trajectories.map((t) => t.completionIds)).toEqual(alone?.trajectories.map((t) => t.completionIds));
  } finally {
    await policy.close();
  }
});
