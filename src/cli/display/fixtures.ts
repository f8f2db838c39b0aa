import type { RunEvent } from '../../core/events.js';
import type { EvaluationMetrics, StepMetrics, StepTiming } from '../../core/metrics.js';

const interval = (value: number): EvaluationMetrics['passAt'][string] => ({
  value,
  low: value - 0.04,
  high: value + 0.04,
});

/** An evaluation of 64 tasks; for tests. */
export function evaluation(step: number, passAt1: number, passAt8: number): EvaluationMetrics {
  return {
    kind: 'evaluation',
    step,
    split: 'heldout',
    tasks: 64,
    samples: 8,
    temperature: 1,
    passAt: { '1': interval(passAt1), '8': interval(passAt8) },
    infraErrors: 0,
  };
}

/** The event of a step; for tests. */
export function stepEvent(
  step: number,
  steps: number,
  overrides: Partial<StepMetrics> = {},
): RunEvent & { type: 'step' } {
  const metrics: StepMetrics = {
    kind: 'step',
    step,
    reward: 0.3 + step / 100,
    rewardParts: { accepted: 0.3 + step / 100 },
    passRate: 0.3 + step / 100,
    entropy: 0.82,
    distinctSolutions: 2.1,
    groups: 16,
    survivingGroups: 14,
    trajectories: 128,
    sampledTokens: 5120,
    trainedTokens: 4800,
    meanLength: 40,
    truncated: 0,
    verdicts: { accepted: 40, wrong_answer: 88 },
    infraErrors: 0,
    hackRate: 0,
    loss: -0.01,
    gradNorm: 0.7,
    clippedHigh: 0,
    clippedLow: 0,
    ...overrides,
  };
  const timing: StepTiming = {
    step,
    sampleSeconds: 2.05,
    verifySeconds: 0.6,
    updateSeconds: 2.35,
    otherSeconds: 0.1,
    tokensPerSecond: 2498,
    programsPerSecond: 213,
  };
  return { type: 'step', metrics, timing, steps, secondsLeft: (steps - step) * 5 };
}

/** The events of a short run from start to summary; for tests. */
export const RUN: readonly RunEvent[] = [
  {
    type: 'start',
    directory: 'runs/first',
    policy: { directory: 'models/base', parameters: 1_310_720 },
    languages: ['javascript'],
  },
  { type: 'progress', phase: 'probe', done: 64, total: 128, unit: 'tokens' },
  {
    type: 'estimate',
    estimate: { steps: 4, minutes: 0.35, sampledTokens: 20_480, programs: 512, sandboxSeconds: 2.4 },
  },
  { type: 'evaluation', metrics: evaluation(0, 0.345, 0.71) },
  stepEvent(1, 4),
  { type: 'evaluation', metrics: evaluation(2, 0.41, 0.72) },
  stepEvent(2, 4),
  { type: 'progress', phase: 'sample', done: 1229, total: 4096, unit: 'tokens' },
  { type: 'warning', message: '1 of 128 programs could not be judged: a worker died\u001b[2J' },
  stepEvent(3, 4),
  { type: 'evaluation', metrics: evaluation(4, 0.589, 0.741) },
  stepEvent(4, 4),
  {
    type: 'summary',
    directory: 'runs/first',
    checkpoint: 'runs/first/checkpoints/step-4',
    base: evaluation(0, 0.345, 0.71),
    trained: evaluation(4, 0.589, 0.741),
    solved: [
      {
        taskId: 'heldout-17',
        prompt: '// language: javascript\n// Doubles each number and sums them.\nfunction solve(xs) {\n',
        before: '  return xs.reduce((a, b) => a + b);\n}\n',
        beforeVerdict: 'wrong_answer',
        after: '  return xs.map((x) => x * 2).reduce((a, b) => a + b, 0);\n}\n',
      },
    ],
    seconds: 21.4,
    sampledTokens: 20_480,
  },
];
