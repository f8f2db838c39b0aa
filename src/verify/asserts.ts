import type { TestResult } from '../core/evidence.js';
import type { Task } from '../core/task.js';
import type { ExecutionResult } from '../sandbox/index.js';

/** A pattern that matches just this text. */
export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * What the prompt defines ahead of the entry point, e.g. `poly` in HumanEval/32. Test code may use it, so it is run
 * where the tests are, from the trusted prompt: a program that redefines its helper must not redefine the tests'.
 */
export function promptHelpers(task: Pick<Task, 'prompt' | 'entryPoint'>): string {
  const name = escapeRegExp(task.entryPoint);
  const declaration = new RegExp(
    String.raw`^[ \t]*(?:export\s+)?(?:(?:async\s+)?function\s*\*?|const|let|var)\s+${name}(?![\w$])`,
    'gm',
  );
  let start = -1;
  for (const match of task.prompt.matchAll(declaration)) start = match.index;
  return start < 0 ? '' : task.prompt.slice(0, start);
}

/** One result an assertion; then, if the execution ended early, one for what ended it. */
export function assertResults(execution: ExecutionResult): TestResult[] {
  const results: TestResult[] = execution.assertions.map(({ passed, message }) =>
    passed ? { verdict: 'accepted' } : { verdict: 'wrong_answer', message },
  );
  const { failure } = execution;
  if (failure) results.push({ verdict: failure.verdict, message: failure.message });
  return results;
}
