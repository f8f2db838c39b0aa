import type { TestsEvidence } from '../core/evidence.js';
import type { CallTest, Task, TestSuite } from '../core/task.js';
import type { Verifier } from '../core/verifier.js';

/** A JavaScript task for tests; `prompt` is empty, so that completions are whole programs. */
export function taskOf(hidden: TestSuite | readonly CallTest[], rest: Partial<Task> = {}): Task {
  return {
    version: 1,
    id: 'fixture',
    language: 'javascript',
    description: '',
    entryPoint: 'solve',
    prompt: '',
    visible: [],
    hidden: 'kind' in hidden ? hidden : { kind: 'calls', cases: hidden },
    ...rest,
  };
}

/** The tests evidence of one completion. */
export async function testsOf(verifier: Verifier, task: Task, completion: string): Promise<TestsEvidence> {
  const evidence = await verifier.verify(task, completion);
  const tests = evidence.find((e): e is TestsEvidence => e.kind === 'tests');
  if (!tests) throw new Error('no tests evidence');
  return tests;
}
