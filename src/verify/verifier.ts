import type { Evidence } from '../core/evidence.js';
import type { Task } from '../core/task.js';
import type { Verifier } from '../core/verifier.js';
import { createSandbox, DEFAULT_LIMITS, type Limits, type Sandbox, type SandboxOptions } from '../sandbox/index.js';
import { promptHelpers } from './asserts.js';
import { Cache } from './cache.js';
import { type Comparator, exact } from './compare.js';
import { extractProgram } from './extract.js';
import { contentKey } from './key.js';
import { type Judged, judge, rungOf } from './ladder.js';

export interface VerifierOptions extends SandboxOptions {
  /** Laid over `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits>;
  /** How results of call tests are compared; default `exact`. */
  readonly comparator?: Comparator;
  /** Judge every test rather than stop at the first that fails; default false. Tests not judged are absent from `results`. */
  readonly allTests?: boolean;
  /** Verdicts kept in memory, by content hash; default 4096. */
  readonly cacheSize?: number;
}

/** The embedded verifier: completion → program → sandbox → comparison → evidence. */
export async function createVerifier(options: VerifierOptions = {}): Promise<Verifier> {
  const sandbox = await createSandbox(options);
  return verifierOn(sandbox, options);
}

/** A verifier on an open sandbox, which it closes. */
export function verifierOn(sandbox: Sandbox, options: Omit<VerifierOptions, keyof SandboxOptions> = {}): Verifier {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const comparator = options.comparator ?? exact;
  const allTests = options.allTests ?? false;
  const ladder = { limits, comparator, allTests };
  const cache = new Cache<Judged>(options.cacheSize ?? 4096, (judged) => judged.verdict !== 'infra_error');

  const keyOf = (task: Task, program: string): string =>
    contentKey({
      task,
      helpers: task.hidden.kind === 'asserts' ? promptHelpers(task) : '',
      program,
      toolchain: sandbox.toolchain(task.language),
      limits,
      comparator: comparator.name,
      allTests,
    });

  return {
    languages: sandbox.languages,
    async verify(task: Task, completion: string): Promise<Evidence[]> {
      const program = extractProgram(task, completion);
      const key = keyOf(task, program ?? '');
      if (program === null) return assemble(nothing(task, sandbox.toolchain(task.language)), key, false);
      const { value, hit } = await cache.get(key, () => judge(sandbox, task, program, ladder));
      return assemble(value, key, hit);
    },
    close: () => sandbox.close(),
  };
}

function assemble(judged: Judged, key: string, cached: boolean): Evidence[] {
  const rung = rungOf(judged);
  return [...(rung ? [rung] : []), { ...judged, key, cached }];
}

function nothing(task: Task, toolchain: string): Judged {
  return {
    kind: 'tests',
    verdict: 'no_code',
    results: [],
    passed: 0,
    total: task.hidden.kind === 'calls' ? task.hidden.cases.length : 0,
    cpuMs: 0,
    wallMs: 0,
    toolchain,
    message: 'the completion holds no program',
  };
}
