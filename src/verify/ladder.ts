import type { Evidence, TestResult, TestsEvidence, Verdict } from '../core/evidence.js';
import type { CallTest, Task } from '../core/task.js';
import {
  type CallOutcome,
  type ExecutionResult,
  type Limits,
  notExecuted,
  type Sandbox,
  toWire,
} from '../sandbox/index.js';
import { assertResults, promptHelpers } from './asserts.js';
import type { Comparator } from './compare.js';

/** Returned values whose JSON is longer than this many characters are left out of the evidence. */
const MAX_ACTUAL = 2000;

export interface LadderOptions {
  readonly limits: Limits;
  readonly comparator: Comparator;
  /** Judge every test, rather than up to the first that fails. */
  readonly allTests: boolean;
}

/** The tests evidence short of what the cache adds. */
export type Judged = Omit<TestsEvidence, 'key' | 'cached'>;

function testResult(outcome: CallOutcome, test: CallTest, comparator: Comparator): TestResult {
  switch (outcome.kind) {
    case 'threw':
      return { verdict: 'runtime_error', message: outcome.message };
    case 'limit':
      return { verdict: outcome.limit, message: outcome.message };
    case 'returned': {
      const verdict = comparator.equal(outcome.value, toWire(test.expected)) ? 'accepted' : 'wrong_answer';
      const small = JSON.stringify(outcome.value).length <= MAX_ACTUAL;
      return {
        verdict,
        ...(small ? { actual: outcome.value } : { message: 'the returned value is too large to keep' }),
      };
    }
  }
}

/** Results in order, ended after the first failure unless all are wanted. */
function upToFailure(results: readonly TestResult[], all: boolean): readonly TestResult[] {
  const first = all ? -1 : results.findIndex((result) => result.verdict !== 'accepted');
  return first < 0 ? results : results.slice(0, first + 1);
}

function judged(
  execution: ExecutionResult,
  results: readonly TestResult[],
  total: number,
  verdict: Verdict,
  message?: string,
): Judged {
  const { cpuMs, wallMs, peakBytes, toolchain } = execution;
  return {
    kind: 'tests',
    verdict,
    results,
    passed: results.filter((result) => result.verdict === 'accepted').length,
    total,
    cpuMs,
    wallMs,
    ...(peakBytes === undefined ? {} : { peakBytes }),
    toolchain,
    ...(message === undefined ? {} : { message }),
  };
}

/** Runs a program against a task's hidden tests. The verdict is that of the first test that fails. */
export async function judge(sandbox: Sandbox, task: Task, program: string, options: LadderOptions): Promise<Judged> {
  const { hidden } = task;
  if (hidden.kind === 'calls' && hidden.cases.length === 0) {
    const failure = { verdict: 'infra_error', message: `task ${task.id} has no hidden tests` } as const;
    return judged(notExecuted(failure, sandbox.toolchain(task.language)), [], 0, 'infra_error', failure.message);
  }
  const execution = await sandbox.execute({
    language: task.language,
    source: program,
    entryPoint: task.entryPoint,
    limits: options.limits,
    work:
      hidden.kind === 'calls'
        ? { kind: 'calls', calls: hidden.cases.map((test) => test.args), stopOnThrow: !options.allTests }
        : { kind: 'judge', source: hidden.source, helpers: promptHelpers(task) },
  });
  const { failure } = execution;
  const blame = failure && [failure.message, failure.hint].filter(Boolean).join('; ');

  if (hidden.kind === 'asserts') {
    const results = upToFailure(assertResults(execution), options.allTests);
    const total = execution.assertions.length + (failure ? 1 : 0);
    if (failure?.verdict === 'infra_error') return judged(execution, [], 0, 'infra_error', blame);
    const first = results.find((result) => result.verdict !== 'accepted');
    return judged(execution, results, total, first?.verdict ?? 'accepted', first?.message);
  }

  const { cases } = hidden;
  if (failure) return judged(execution, [], cases.length, failure.verdict, blame);
  const results = upToFailure(
    execution.calls.map((outcome, i) => testResult(outcome, cases[i] as CallTest, options.comparator)),
    options.allTests,
  );
  const first = results.find((result) => result.verdict !== 'accepted');
  if (!first && results.length < cases.length) {
    return judged(execution, results, cases.length, 'infra_error', 'the sandbox answered fewer tests than were asked');
  }
  return judged(execution, results, cases.length, first?.verdict ?? 'accepted', first?.message);
}

/** The last rung that a verdict shows was reached; none where nothing was learnt about the program. */
export function rungOf({ verdict, results }: Judged): Extract<Evidence, { kind: 'rung' }> | undefined {
  switch (verdict) {
    case 'infra_error':
      return undefined;
    case 'no_code':
    case 'compile_error':
      return { kind: 'rung', rung: 'parse', passed: false };
    case 'accepted':
      return { kind: 'rung', rung: 'test', passed: true };
    case 'wrong_answer':
      return { kind: 'rung', rung: 'test', passed: false };
    default:
      return {
        kind: 'rung',
        rung: results.some((result) => result.verdict === 'accepted') ? 'test' : 'run',
        passed: false,
      };
  }
}
