import type { Evidence, Verdict } from './evidence.js';
import type { Task } from './task.js';
import type { Group, Trajectory } from './trajectory.js';

/** A small valid task for tests. */
export function exampleTask(id = 'double'): Task {
  return {
    version: 1,
    id,
    language: 'javascript',
    description: 'Double the number.',
    entryPoint: 'f',
    prompt: '// Double the number.\nfunction f(n) {\n',
    visible: [{ args: [2], expected: 4 }],
    hidden: {
      kind: 'calls',
      cases: [
        { args: [0], expected: 0 },
        { args: [5], expected: 10 },
        { args: [-3], expected: -6 },
      ],
    },
    reference: '  return n * 2;\n}',
    difficulty: 1,
  };
}

/** Evidence of a run of the hidden tests that ended in `verdict`. */
export function testsEvidence(verdict: Verdict): Evidence {
  return {
    kind: 'tests',
    verdict,
    results: [{ verdict }],
    passed: verdict === 'accepted' ? 1 : 0,
    total: 1,
    cpuMs: 1,
    wallMs: 1,
    toolchain: 'example 1',
    key: verdict,
    cached: false,
  };
}

/** A trajectory of `length` tokens, each sampled with probability 1/2, that ended in `verdict`. */
export function exampleTrajectory(verdict: Verdict, changes: Partial<Trajectory> = {}, length = 3): Trajectory {
  return {
    version: 1,
    id: 's1-g0-m0',
    taskId: 'double',
    policyVersion: 0,
    promptIds: [1, 2],
    completionIds: Array.from({ length }, (_, t) => t + 3),
    completionMask: Array.from({ length }, () => 1 as const),
    logprobs: Array.from({ length }, () => Math.log(0.5)),
    entropies: Array.from({ length }, () => Math.log(2)),
    text: `program ${verdict}`,
    finish: 'stop',
    evidence: [testsEvidence(verdict)],
    ...changes,
  };
}

export function exampleGroup(...verdicts: Verdict[]): Group {
  return { task: exampleTask(), trajectories: verdicts.map((v, m) => exampleTrajectory(v, { id: `s1-g0-m${m}` })) };
}
