import type { PromptSpec, Scheduler } from '../core/recipe.js';
import type { Task } from '../core/task.js';

export interface UniformOptions {
  readonly groupSize: number;
  readonly temperature: number;
}

/**
 * Takes tasks in the order of their index, each once an epoch: step s gets tasks (s−1)·n … s·n−1.
 * `taskAt` must be a pure function of the index, which makes the scheduler stateless.
 */
export function uniform(taskAt: (index: number) => Task, options: UniformOptions): Scheduler {
  return {
    next: (step, n) =>
      Array.from({ length: n }, (_, i): PromptSpec => ({ task: taskAt((step - 1) * n + i), ...options })),
    observe: () => {},
    state: () => null,
    restore: () => {},
  };
}
