import type { JSPromiseState, QuickJSContext, QuickJSHandle, QuickJSRuntime, VmCallResult } from 'quickjs-emscripten';
import type { LimitKind, Limits } from '../sandbox.js';
import { interruptsFor } from './budget.js';
import type { Engine } from './engine.js';
import { CODEC } from './guest.js';

/** Jobs of the microtask queue that cost one interrupt, so that a flood of jobs that never poll ends too. */
const JOBS_PER_INTERRUPT = 256;
/** Extra heap and interrupts for describing what went wrong once the program has used up its own. */
const GRACE_BYTES = 4 * 2 ** 20;
const GRACE_INTERRUPTS = 50;

const LIMIT_MESSAGES: { readonly [limit in LimitKind]: string } = {
  time_limit: 'CPU time limit exceeded',
  memory_limit: 'memory limit exceeded',
  output_limit: 'output limit exceeded',
};

/** How a program stopped: by a throw of its own, or at a limit. */
export type Stopped =
  | { readonly kind: 'threw'; readonly name: string; readonly text: string }
  | { readonly kind: 'limit'; readonly limit: LimitKind };

/** Carries `Stopped` through our own frames; never enters the interpreter. */
export class Halt extends Error {
  constructor(readonly stopped: Stopped) {
    super(stopped.kind === 'threw' ? `${stopped.name}: ${stopped.text}` : LIMIT_MESSAGES[stopped.limit]);
  }
}

/** An exception crossed the interpreter's C frames. The instance is unsound; a fresh one may tell another story. */
export class Crash extends Error {}

interface Codec {
  readonly object: QuickJSHandle;
  readonly run: QuickJSHandle;
  readonly encode: QuickJSHandle;
  readonly describe: QuickJSHandle;
}

/** One runtime with one context, under limits, for one program or one judge. */
export class Interpreter {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  readonly codec: Codec;
  stdout = '';
  private limit: LimitKind | undefined;
  private interrupts = 0;
  private allowed: number;
  private readonly handles: QuickJSHandle[] = [];

  constructor(
    private readonly engine: Engine,
    private readonly limits: Limits,
  ) {
    this.allowed = interruptsFor(limits.cpuMs);
    this.runtime = engine.module.newRuntime();
    this.runtime.setMaxStackSize(limits.stackBytes);
    this.runtime.setInterruptHandler(() => {
      if (this.limit === undefined && ++this.interrupts > this.allowed) this.limit = 'time_limit';
      return this.limit !== undefined;
    });
    this.context = this.runtime.newContext();
    const make = this.keep(this.evaluate(CODEC, 'codec.js'));
    const write = this.keep(this.context.newFunction('write', (line) => this.write(this.context.getString(line))));
    const object = this.call(make, write, this.keep(this.context.newNumber(limits.outputBytes)));
    const part = (name: string): QuickJSHandle => this.keep(this.context.getProp(object, name));
    this.codec = { object, run: part('run'), encode: part('encode'), describe: part('describe') };
    this.keep(object);
    this.runtime.setMemoryLimit(limits.memoryBytes);
  }

  /** Frees the handle with the interpreter. */
  keep(handle: QuickJSHandle): QuickJSHandle {
    this.handles.push(handle);
    return handle;
  }

  /** Runs a script and returns its value. Throws `Halt` or `Crash`. */
  evaluate(source: string, file: string): QuickJSHandle {
    return this.settle(this.attempt(source, file));
  }

  /** Runs a script; an error it throws is the caller's to read (`thrown`). Throws `Crash`. */
  attempt(source: string, file: string): VmCallResult<QuickJSHandle> {
    return this.guarded(() => this.context.evalCode(source, file, { type: 'global' }));
  }

  /** The state of a promise, or of any other value as if it were fulfilled. */
  promiseState(handle: QuickJSHandle): JSPromiseState {
    return this.guarded(() => this.context.getPromiseState(handle));
  }

  /** Whether the source parses; runs nothing. */
  parses(source: string): boolean {
    return this.graced(() => {
      const result = this.guarded(() =>
        this.context.evalCode(source, 'program.js', { type: 'global', compileOnly: true }),
      );
      (result.error ?? result.value).dispose();
      return result.error === undefined;
    });
  }

  /** Calls a function without `this`; the arguments stay the caller's. Throws `Halt` or `Crash`. */
  call(f: QuickJSHandle, ...args: QuickJSHandle[]): QuickJSHandle {
    return this.settle(this.guarded(() => this.context.callFunction(f, this.context.undefined, ...args)));
  }

  /** Applies an entry point to the arguments in a wire text; `promised` when it returned a promise, now settled. */
  apply(entry: QuickJSHandle, argsText: string): { readonly text: string; readonly promised: boolean } {
    const args = this.guarded(() => this.context.newString(argsText));
    let result: QuickJSHandle;
    try {
      result = this.call(this.codec.run, entry, args);
    } finally {
      args.dispose();
    }
    try {
      this.drain();
      if (this.context.typeof(result) === 'string') return { text: this.text(result), promised: false };
      const state = this.promiseState(result);
      switch (state.type) {
        case 'pending':
          throw new Halt({ kind: 'threw', name: 'Error', text: 'returned a promise that never settles' });
        case 'rejected':
          throw this.thrown(state.error);
        case 'fulfilled': {
          const promised = state.notAPromise !== true;
          if (promised) this.keep(state.value);
          return { text: this.text(this.keep(this.call(this.codec.encode, state.value))), promised };
        }
      }
    } finally {
      result.dispose();
    }
  }

  /** Runs the microtask queue until it is empty or a limit is reached. */
  drain(): number {
    let jobs = 0;
    while (this.guarded(() => this.runtime.hasPendingJob())) {
      const result = this.guarded(() => this.runtime.executePendingJobs(JOBS_PER_INTERRUPT));
      // A job's own exceptions settle its promise; only a limit comes out here.
      if (result.error) result.error.dispose();
      else jobs += result.value;
      if (++this.interrupts > this.allowed) this.limit ??= 'time_limit';
      if (this.limit !== undefined) throw new Halt({ kind: 'limit', limit: this.limit });
    }
    return jobs;
  }

  /** Ends whatever runs here at its next poll, as if it had reached the limit. */
  halt(limit: LimitKind): void {
    this.limit ??= limit;
  }

  get halted(): LimitKind | undefined {
    return this.limit;
  }

  dispose(): void {
    try {
      for (const handle of this.handles) if (handle.alive) handle.dispose();
      this.context.dispose();
      this.runtime.dispose();
    } catch {
      this.engine.discard();
    }
  }

  /** What a caught error says, as `Halt`. Takes the handle. */
  thrown(error: QuickJSHandle): Halt {
    if (this.limit !== undefined) {
      error.dispose();
      return new Halt({ kind: 'limit', limit: this.limit });
    }
    const described = this.graced(() => {
      const result = this.guarded(() => this.context.callFunction(this.codec.describe, this.context.undefined, error));
      const text = result.error
        ? '["Error","an object that cannot be described"]'
        : this.context.getString(result.value);
      (result.error ?? result.value).dispose();
      return text;
    });
    error.dispose();
    if (this.limit !== undefined) return new Halt({ kind: 'limit', limit: this.limit });
    const [name, text] = JSON.parse(described) as [string, string];
    const exhausted = name === 'InternalError' && (text === 'out of memory' || text === 'string too long');
    // With no room left even for the error object, QuickJS throws null.
    if (exhausted || (name === 'thrown' && text === 'null' && this.nearlyFull())) {
      return new Halt({ kind: 'limit', limit: 'memory_limit' });
    }
    return new Halt({ kind: 'threw', name, text });
  }

  private write(quoted: string): void {
    const room = this.limits.outputBytes - this.stdout.length;
    const line = JSON.parse(quoted) as string;
    this.stdout += line.slice(0, room);
    if (line.length <= room) return;
    this.halt('output_limit');
    throw new Error('output limit exceeded');
  }

  /** The wire text that `run` and `encode` return. */
  private text(handle: QuickJSHandle): string {
    const text = this.guarded(() => this.context.getString(handle));
    if (text !== '!') return text.slice(1);
    throw new Halt({ kind: 'limit', limit: 'output_limit' });
  }

  private nearlyFull(): boolean {
    return this.graced(() => {
      const usage = this.runtime.computeMemoryUsage();
      const size = this.context.getProp(usage, 'malloc_size');
      const bytes = this.context.getNumber(size);
      size.dispose();
      usage.dispose();
      return bytes > 0.9 * this.limits.memoryBytes;
    });
  }

  private graced<T>(work: () => T): T {
    this.allowed += GRACE_INTERRUPTS;
    this.runtime.setMemoryLimit(this.limits.memoryBytes + GRACE_BYTES);
    try {
      return work();
    } finally {
      this.allowed -= GRACE_INTERRUPTS;
      this.runtime.setMemoryLimit(this.limits.memoryBytes);
    }
  }

  private settle(result: VmCallResult<QuickJSHandle>): QuickJSHandle {
    if (result.error) throw this.thrown(result.error);
    if (this.limit === undefined) return result.value;
    result.value.dispose();
    throw new Halt({ kind: 'limit', limit: this.limit });
  }

  private guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.engine.discard();
      throw new Crash(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  }
}
