import type { QuickJSHandle } from 'quickjs-emscripten';
import type { Limits } from '../limits.js';
import type { Assertion, Failure } from '../sandbox.js';
import { Crash, Halt, Interpreter, type Stopped } from './interpreter.js';
import { GUARD_HOOK, JUDGE_HOOK } from './judge.js';
import type { Job, Outcome, WireOutcome } from './protocol.js';
import { countThrows, evaluatesText, hookAsyncErrors, judgesArguments, usesAssertions } from './test-code.js';

const IDENTIFIER =
  /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*(\.[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)*$/u;

const failed = (failure: Failure): Outcome => ({ failure, calls: [], assertions: [], stdout: '' });

/** What the program printed and the memory it took. */
const leftBy = ({ stdout, peakBytes }: Interpreter): Pick<Outcome, 'stdout' | 'peakBytes'> => ({
  stdout,
  ...(peakBytes === undefined ? {} : { peakBytes }),
});

const asFailure = (halt: Halt): Failure => ({
  verdict: halt.stopped.kind === 'limit' ? halt.stopped.limit : 'runtime_error',
  message: halt.message,
});

const asOutcome = (stopped: Stopped, message: string): WireOutcome =>
  stopped.kind === 'limit' ? { kind: 'limit', limit: stopped.limit, message } : { kind: 'threw', message };

/** Evaluates the program; returns its entry point, or why there is none. */
function load(program: Interpreter, source: string, entryPoint: string): QuickJSHandle | Failure {
  try {
    program.evaluate(source, 'program.js').dispose();
    program.drain();
  } catch (error) {
    if (!(error instanceof Halt)) throw error;
    const { stopped } = error;
    // A program can throw a SyntaxError of its own; it is a compile error only if the source itself does not parse.
    const suspect = stopped.kind === 'threw' && (stopped.name === 'SyntaxError' || stopped.text === 'stack overflow');
    if (suspect && !program.parses(source)) return { verdict: 'compile_error', message: error.message };
    return asFailure(error);
  }
  const root = entryPoint.split('.')[0] as string;
  const exported = `module.exports.${entryPoint}`;
  try {
    const entry = program.evaluate(
      `typeof ${root} !== 'undefined' ? ${entryPoint} : typeof module === 'object' ? typeof module.exports === 'function' ? module.exports : ${exported} : undefined`,
      'entry.js',
    );
    if (program.context.typeof(entry) === 'function') return entry;
    entry.dispose();
  } catch (error) {
    if (!(error instanceof Halt)) throw error;
    return asFailure(error);
  }
  // In a full heap there may be no room for the value that says what the entry point is.
  if (program.full) return asFailure(new Halt({ kind: 'limit', limit: 'memory_limit' }));
  return { verdict: 'runtime_error', message: `the program defines no function ${entryPoint}` };
}

const isFailure = (loaded: QuickJSHandle | Failure): loaded is Failure => 'verdict' in loaded;

function runCalls(
  program: Interpreter,
  entry: QuickJSHandle,
  calls: readonly string[],
  stopOnThrow: boolean,
): WireOutcome[] {
  const outcomes: WireOutcome[] = [];
  for (const args of calls) {
    try {
      outcomes.push({ kind: 'returned', text: program.apply(entry, args).text });
    } catch (error) {
      if (!(error instanceof Halt)) throw error;
      outcomes.push(asOutcome(error.stopped, error.message));
      if (error.stopped.kind === 'limit' || stopOnThrow) break;
    }
  }
  return outcomes;
}

/**
 * Runs trusted test code in an interpreter of its own, in a WebAssembly instance of its own. The entry point is there
 * a host function that carries wire texts to the program's interpreter and back, so that neither the assertions nor
 * the expected values are ever in the program's memory.
 */
function runJudge(
  judge: Interpreter,
  program: Interpreter,
  entry: QuickJSHandle,
  job: Pick<Job, 'entryPoint' | 'limits'> & Extract<Job['work'], { kind: 'judge' }>,
): { readonly failure?: Failure; readonly assertions: Assertion[] } {
  const assertions: Assertion[] = [];
  if (evaluatesText(job.source, job.entryPoint)) {
    return { failure: badTests('the test code evaluates text as code (eval, Function)'), assertions };
  }
  const asserting = usesAssertions(`${job.helpers}\n${job.source}`);
  let programFailure: Failure | undefined;
  let crash: Crash | undefined;
  let lastThrow: Failure | undefined;
  let calls = 0;
  let left = '';

  const apply = (argsText: string): string => {
    try {
      const { text, promised } = program.apply(entry, argsText);
      return (promised ? 'p' : 'v') + text;
    } catch (error) {
      if (!(error instanceof Halt) || error.stopped.kind !== 'threw') throw error;
      lastThrow = asFailure(error);
      return (error.promised ? 'r' : 'e') + JSON.stringify([error.stopped.name, error.stopped.text]);
    }
  };
  const call = (argsText: string): string => {
    calls++;
    try {
      const reply = apply(argsText);
      left = program.left() ?? '';
      return reply;
    } catch (error) {
      if (error instanceof Crash) crash = error;
      else if (error instanceof Halt) programFailure = asFailure(error);
      judge.halt('time_limit');
      throw error;
    }
  };
  judge.reset(judgeLimits(job.limits), {
    call,
    left: () => left,
    record: (passed, message) => void assertions.push({ passed, message }),
  });
  const { install, blame, lost } = judge.judge as NonNullable<Interpreter['judge']>;

  const report = (halt: Halt, source: string): Failure | undefined => {
    // Before the first call nothing can be the program's doing; after it, everything may be: an error that a program
    // could bring about by its answers must be no way out of a verdict.
    const untouched = calls === 0;
    if (halt.stopped.kind === 'limit') {
      if (untouched) return badTests(`${halt.message} in the test code, which never called the program`);
      return { verdict: halt.stopped.limit, message: `${halt.message} in the test code` };
    }
    if (source === 'program') return { verdict: 'runtime_error', message: halt.message };
    if (source === 'assertion' || source === 'nothing') return undefined; // Recorded already.
    if (untouched) return badTests(`the test code does not run: ${halt.message}`);
    return { verdict: 'wrong_answer', message: `the test code threw on what the program returned: ${halt.message}` };
  };
  const explain = (error: QuickJSHandle): Failure | undefined => {
    const source = judge.halted === undefined ? judge.context.getString(judge.call(blame, error)) : 'other';
    return report(judge.thrown(error), source);
  };

  try {
    judge.evaluate(job.helpers, 'helpers.js');
  } catch (error) {
    // Tests that need a helper that does not run will say so themselves.
    if (!(error instanceof Halt)) throw error;
  }
  let failure: Failure | undefined;
  try {
    judge.call(install, judge.context.newString(job.entryPoint));
    const source = asserting ? job.source : (countThrows(job.source, GUARD_HOOK) ?? job.source);
    const hooked = hookAsyncErrors(source, JUDGE_HOOK);
    const runnable = [hooked, source].find((text) => text !== job.source && judge.parses(text)) ?? job.source;
    if (!asserting && !runnable.includes(GUARD_HOOK) && judge.parses(job.source)) {
      return { failure: badTests('the test code holds no assertion and no `if (…) throw`'), assertions };
    }
    const result = judge.attempt(runnable, 'tests.js');
    if (result.error) {
      failure = explain(result.error);
    } else {
      const jobs = judge.drain();
      const state = judge.promiseState(result.value);
      if (state.type === 'rejected') failure = explain(state.error);
      // In asynchronous test code an error may be lost in a promise that nobody reads.
      if (jobs > 0) failure ??= lastThrow ?? explain(judge.call(lost));
    }
  } catch (error) {
    if (!(error instanceof Halt)) throw error;
    failure = report(error, 'other');
  }
  if (crash !== undefined) throw crash;
  if (programFailure !== undefined) return { failure: programFailure, assertions };
  if (failure !== undefined) return { failure, assertions };
  if (assertions.length > 0) return { assertions };
  if (calls === 0)
    return { failure: badTests('the test code asserted nothing and never called the program'), assertions };
  // Tests that loop over what the program returned assert nothing about an empty answer: no way out of a verdict.
  return {
    failure: { verdict: 'wrong_answer', message: 'no assertion was reached with what the program returned' },
    assertions,
  };
}

function badTests(message: string): Failure {
  return {
    verdict: 'infra_error',
    code: 'bad_tests',
    message,
    hint: "this says nothing about the program; correct the task's hidden tests or drop the task",
  };
}

/** The interpreters of one worker: programs and judges never share a WebAssembly memory. */
export interface Interpreters {
  program: Interpreter;
  judge: Interpreter;
  /** Called at every interrupt of either. */
  readonly onInterrupt: () => void;
}

/** Heap of a judge in bytes: test code is trusted, but what it is handed is not. */
const JUDGE_BYTES = 128 * 2 ** 20;

export async function loadInterpreters(limits: Limits, onInterrupt: () => void): Promise<Interpreters> {
  return {
    program: await Interpreter.load('program', limits.memoryBytes, onInterrupt),
    judge: await Interpreter.load('judge', JUDGE_BYTES, onInterrupt),
    onInterrupt,
  };
}

/** Replaces interpreters that do not fit the job. */
async function ready(interpreters: Interpreters, { memoryBytes }: Limits): Promise<void> {
  const { program, judge, onInterrupt } = interpreters;
  if (!program.fits(memoryBytes)) interpreters.program = await Interpreter.load('program', memoryBytes, onInterrupt);
  if (!judge.fits(JUDGE_BYTES)) interpreters.judge = await Interpreter.load('judge', JUDGE_BYTES, onInterrupt);
}

/** Limits of test code: generous, as it is trusted; they stop test loops that a program's answer has made endless. */
const judgeLimits = (limits: Limits): Limits => ({
  cpuMs: limits.cpuMs + 2000,
  memoryBytes: JUDGE_BYTES,
  stackBytes: limits.stackBytes,
  outputBytes: limits.outputBytes,
});

function attempt({ program, judge }: Interpreters, job: Job): Outcome {
  program.reset(job.limits);
  if (job.work.kind === 'judge' && judgesArguments(job.work.source, job.entryPoint)) program.track();
  const entry = load(program, job.source, job.entryPoint);
  if (isFailure(entry)) return { ...failed(entry), ...leftBy(program) };
  if (job.work.kind === 'calls') {
    const calls = runCalls(program, entry, job.work.calls, job.work.stopOnThrow);
    return { calls, assertions: [], ...leftBy(program) };
  }
  const judged = runJudge(judge, program, entry, { ...job.work, entryPoint: job.entryPoint, limits: job.limits });
  return { ...judged, calls: [], ...leftBy(program) };
}

/**
 * Runs one program. When it crashes the interpreter (an exception through C frames), it is run once more in a fresh
 * instance, as an earlier program may have left the old one unsound; a second crash is the program's own doing: a memory
 * limit where its heap was full.
 */
export async function execute(interpreters: Interpreters, job: Job): Promise<Outcome> {
  if (!IDENTIFIER.test(job.entryPoint)) {
    return failed(badTests(`entry point ${JSON.stringify(job.entryPoint)} is not a name`));
  }
  for (let tries = 0; ; tries++) {
    await ready(interpreters, job.limits);
    try {
      return attempt(interpreters, job);
    } catch (error) {
      if (tries === 0) continue;
      // Parts of the interpreter do not look whether their allocations succeed.
      const { program, judge } = interpreters;
      if (program.full || judge.full) return failed(asFailure(new Halt({ kind: 'limit', limit: 'memory_limit' })));
      const message = error instanceof Error ? error.message : String(error);
      return failed({ verdict: 'runtime_error', message: `the program crashed the interpreter: ${message}` });
    }
  }
}
