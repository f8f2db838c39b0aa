import type { Language } from '../core/task.js';
import type { Value } from '../core/value.js';
import { languages as known } from './languages/index.js';
import type { LimitKind, Limits } from './limits.js';

/** What to do with a loaded program. Expected values of `calls` never enter; a judge has an interpreter of its own. */
export type Work =
  | {
      readonly kind: 'calls';
      /** Arguments of each call of the entry point, in order; each call gets copies of its own. */
      readonly calls: readonly (readonly Value[])[];
      /** End at the first call that throws. */
      readonly stopOnThrow: boolean;
    }
  | {
      readonly kind: 'judge';
      /** Trusted test code that reaches the program through its entry point alone. */
      readonly source: string;
      /** Trusted definitions that the test code may use, e.g. helpers that the prompt gives. */
      readonly helpers: string;
    };

export interface ExecutionRequest {
  readonly language: Language;
  readonly source: string;
  /** Name of the function under test; dots reach into objects. */
  readonly entryPoint: string;
  readonly work: Work;
  readonly limits: Limits;
}

/** How one call ended. */
export type CallOutcome =
  /** What it returned (a promise's value where it returned one), as a wire value: see `wire.ts`. */
  | { readonly kind: 'returned'; readonly value: Value }
  | { readonly kind: 'threw'; readonly message: string }
  | { readonly kind: 'limit'; readonly limit: LimitKind; readonly message: string };

export interface Assertion {
  readonly passed: boolean;
  readonly message: string;
}

/** Why an execution ended before its work was done. */
export interface Failure {
  readonly verdict: 'compile_error' | 'runtime_error' | 'wrong_answer' | LimitKind | 'infra_error';
  /** For `infra_error`: `toolchain_missing`, `worker_died`, `worker_stalled`, `worker_garbled`, `bad_tests`, `closed`. */
  readonly code?: string;
  readonly message: string;
  /** What a person can do about it. */
  readonly hint?: string;
}

export interface ExecutionResult {
  readonly failure?: Failure;
  /** One outcome a call, in order, as far as the program got. Empty for a judge. */
  readonly calls: readonly CallOutcome[];
  /** What the judge asserted, in order. Empty for calls. */
  readonly assertions: readonly Assertion[];
  /** What the program printed, cut at `limits.outputBytes`. */
  readonly stdout: string;
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Most memory that the program's heap took, interpreter included; absent where the backend cannot tell. */
  readonly peakBytes?: number;
  readonly toolchain: string;
}

/** Runs programs of one or more languages. `execute` never rejects because of what a program did. */
export interface Backend {
  /** Name and version of what runs the programs; equal names give equal verdicts. */
  readonly toolchain: string;
  execute(request: ExecutionRequest): Promise<ExecutionResult>;
  close(): Promise<void>;
}

export interface Detection {
  readonly language: Language;
  readonly available: boolean;
  /** Version of the toolchain, empty where it is missing. */
  readonly version: string;
  /** How programs are run, or what is missing and how to get it. */
  readonly how: string;
}

export interface BackendOptions {
  /** Programs that run at once. */
  readonly workers: number;
}

/** One language: how to find what runs it. A new language is one new file in `languages/`. */
export interface LanguageSupport {
  readonly id: Language;
  /** With its dot. */
  readonly extension: string;
  /** Languages that name the same backend share one. */
  readonly backend: string;
  detect(): Promise<Detection>;
  open(options: BackendOptions): Promise<Backend>;
}

export interface SandboxOptions {
  /** Programs that run at once, per backend; default 2. */
  readonly workers?: number;
  /** Default: all that this version knows. */
  readonly languages?: readonly LanguageSupport[];
}

export interface Sandbox {
  readonly detections: readonly Detection[];
  /** Languages that can run on this host now. */
  readonly languages: readonly Language[];
  /** Toolchain of a language, empty where it has none. */
  toolchain(language: Language): string;
  execute(request: ExecutionRequest): Promise<ExecutionResult>;
  close(): Promise<void>;
}

/** An execution that never reached the program. */
export function notExecuted(failure: Failure, toolchain = ''): ExecutionResult {
  return { failure, calls: [], assertions: [], stdout: '', cpuMs: 0, wallMs: 0, toolchain };
}

/** What this host can run, for `hone doctor`; starts nothing that stays. */
export function detect(languages: readonly LanguageSupport[] = known): Promise<Detection[]> {
  return Promise.all(languages.map((language) => language.detect()));
}

/** Opens the backends of every language that this host can run. */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const supports = options.languages ?? known;
  const detections = await detect(supports);
  const backends = new Map<string, Backend>();
  const byLanguage = new Map<Language, Backend>();
  for (const [i, support] of supports.entries()) {
    if (!detections[i]?.available) continue;
    const backend = backends.get(support.backend) ?? (await support.open({ workers: options.workers ?? 2 }));
    backends.set(support.backend, backend);
    byLanguage.set(support.id, backend);
  }

  const missing = (language: Language): ExecutionResult => {
    const detection = detections.find((d) => d.language === language);
    return notExecuted({
      verdict: 'infra_error',
      code: 'toolchain_missing',
      message: `nothing here can run ${language} programs`,
      hint: detection?.how ?? `this version runs ${supports.map((s) => s.id).join(', ')}`,
    });
  };

  return {
    detections,
    languages: [...byLanguage.keys()],
    toolchain: (language) => byLanguage.get(language)?.toolchain ?? '',
    execute: async (request) => {
      const backend = byLanguage.get(request.language);
      return backend ? backend.execute(request) : missing(request.language);
    },
    close: async () => {
      await Promise.all([...backends.values()].map((backend) => backend.close()));
    },
  };
}
