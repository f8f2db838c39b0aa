import {
  type JSPromiseState,
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  RELEASE_SYNC,
  type VmCallResult,
} from 'quickjs-emscripten';
import { DEFAULT_LIMITS as DEFAULTS, type LimitKind, type Limits } from '../limits.js';
import { interruptsFor } from './budget.js';
import { CODEC } from './guest.js';
import { HeapGauge } from './heap.js';
import { JUDGE } from './judge.js';
import { Snapshot } from './snapshot.js';

/** TypeScript's library for Node has no types for WebAssembly. */
const { Memory } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyMemories }).WebAssembly;
interface WasmMemory {
  readonly buffer: ArrayBuffer;
}
interface WebAssemblyMemories {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory;
}
const WASM_PAGE = 65536;
/** Static data and the C stack, which share the memory with the heap (5.3 MB in this build), and allocator overhead. */
const FIXED_BYTES = 6 * 2 ** 20;
/** With the fixed part, the least memory that this build accepts: 16 MiB. */
const MIN_HEAP_BYTES = 10 * 2 ** 20;
/** The allocator takes memory in steps of 64 KiB at most: once small allocations fail, it has used this much of the end. */
const EDGE_BYTES = 128 * 2 ** 10;

/** Jobs of the microtask queue that cost one interrupt, so that a flood of jobs that never poll ends too. */
const JOBS_PER_INTERRUPT = 256;
/** Extra interrupts for describing what went wrong once the program has used up its own. */
const GRACE_INTERRUPTS = 50;

const LIMIT_MESSAGES: { readonly [limit in LimitKind]: string } = {
  time_limit: 'CPU time limit exceeded',
  memory_limit: 'memory limit exceeded',
  output_limit: 'output limit exceeded',
};

/** Every instance is of one build, so what was found in one holds for all. */
let gauge: HeapGauge | undefined;

/** How a program stopped: by a throw of its own, or at a limit. */
export type Stopped =
  | { readonly kind: 'threw'; readonly name: string; readonly text: string }
  | { readonly kind: 'limit'; readonly limit: LimitKind };

/** Carries `Stopped` through our own frames; never enters the interpreter. */
export class Halt extends Error {
  constructor(
    readonly stopped: Stopped,
    /** The throw was a promise's rejection. */
    readonly promised = false,
  ) {
    super(stopped.kind === 'threw' ? `${stopped.name}: ${stopped.text}` : LIMIT_MESSAGES[stopped.limit]);
  }
}

/** An exception crossed the interpreter's C frames. The instance is unsound; a fresh one may tell another story. */
export class Crash extends Error {}

/** What the interpreter's code may ask of this side; set by whoever runs a judge. */
export interface JudgeHooks {
  /** Calls the program; see `JUDGE` for the texts. */
  readonly call: (argsText: string) => string;
  readonly left: () => string;
  readonly record: (passed: boolean, message: string) => void;
}

/** The interpreter's heap has no room for what this side wants to hand over. */
class HeapFull extends Error {}

/** Part of the Emscripten module that quickjs-emscripten writes texts and lists through. */
interface Allocator {
  _malloc(bytes: number): number;
}

interface Codec {
  readonly run: QuickJSHandle;
  readonly encode: QuickJSHandle;
  readonly describe: QuickJSHandle;
  readonly configure: QuickJSHandle;
  readonly track: QuickJSHandle;
  readonly left: QuickJSHandle;
}

interface JudgeParts {
  readonly install: QuickJSHandle;
  readonly blame: QuickJSHandle;
  readonly lost: QuickJSHandle;
}

/**
 * One WebAssembly instance of QuickJS, with one runtime and one context under limits. `reset` puts its memory back to
 * how it was before the first program, so every program meets the same interpreter down to the last byte, and even a
 * program that corrupts the interpreter's memory does not reach the next one. Handles die with the reset, undisposed.
 */
export class Interpreter {
  readonly context: QuickJSContext;
  private readonly runtime: QuickJSRuntime;
  private readonly codec: Codec;
  readonly judge: JudgeParts | undefined;
  private readonly snapshot: Snapshot;
  private hooks: JudgeHooks | undefined;
  private limits: Limits = DEFAULTS;
  private tracking = false;
  private limit: LimitKind | undefined;
  private interrupts = 0;
  private allowed = Number.POSITIVE_INFINITY;
  private sound = true;
  stdout = '';

  /**
   * A new instance; one for judges also holds the assertion library. The heap limit is the size of its WebAssembly
   * memory: QuickJS's own memory limit does not add up allocations in this build. The memory has that size from the
   * start, so that whether an allocation succeeds does not depend on earlier programs; untouched pages cost nothing.
   */
  static async load(
    role: 'program' | 'judge',
    memoryBytes: number,
    /** Called at every interrupt. */
    onInterrupt: () => void = () => {},
  ): Promise<Interpreter> {
    const pages = Math.min(32768, Math.ceil((FIXED_BYTES + Math.max(MIN_HEAP_BYTES, memoryBytes)) / WASM_PAGE));
    const memory = new Memory({ initial: pages, maximum: pages });
    const silent = (): void => {};
    // What the C library prints when it aborts; the abort itself arrives as an exception.
    const emscriptenModule = { print: silent, printErr: silent } as object;
    const variant = newVariant(RELEASE_SYNC, { emscriptenModule, wasmMemory: memory });
    return new Interpreter(await newQuickJSWASMModuleFromVariant(variant), memory, role, memoryBytes, onInterrupt);
  }

  private constructor(
    module: QuickJSWASMModule,
    private readonly memory: WasmMemory,
    role: 'program' | 'judge',
    private readonly memoryBytes: number,
    onInterrupt: () => void,
  ) {
    // The package does not look whether its allocations succeed, and would write the text at address 0.
    const allocator = (module as unknown as { readonly module: Allocator }).module;
    const malloc = allocator._malloc;
    allocator._malloc = (bytes) => {
      const address = malloc(bytes);
      if (address !== 0) return address;
      this.limit ??= 'memory_limit';
      throw new HeapFull(`no room for ${bytes} bytes`);
    };
    this.context = module.newContext();
    this.runtime = this.context.runtime;
    this.runtime.setInterruptHandler(() => {
      onInterrupt();
      if (this.limit === undefined && ++this.interrupts > this.allowed) this.limit = 'time_limit';
      return this.limit !== undefined;
    });
    const { context } = this;
    const write = context.newFunction('write', (line) => this.write(context.getString(line)));
    const codec = this.call(this.evaluate(CODEC, 'codec.js'), write);
    const part = (object: QuickJSHandle, name: string): QuickJSHandle => context.getProp(object, name);
    this.codec = {
      run: part(codec, 'run'),
      encode: part(codec, 'encode'),
      describe: part(codec, 'describe'),
      configure: part(codec, 'configure'),
      track: part(codec, 'track'),
      left: part(codec, 'left'),
    };
    if (role === 'judge') {
      const call = context.newFunction('call', (text) =>
        context.newString(this.hooks?.call(context.getString(text)) as string),
      );
      const left = context.newFunction('left', () => context.newString(this.hooks?.left() as string));
      const record = context.newFunction('record', (passed, message) => {
        this.hooks?.record(context.eq(passed, context.true), JSON.parse(context.getString(message)) as string);
      });
      const judge = this.call(this.evaluate(JUDGE, 'judge.js'), codec, call, left, record);
      this.judge = { install: part(judge, 'install'), blame: part(judge, 'blame'), lost: part(judge, 'lost') };
    }
    this.snapshot = Snapshot.take(this.memory.buffer);
    if (gauge === undefined) this.calibrate();
  }

  /** Whether it may run a program with this much heap: it has that much, and no exception has crossed its C frames. */
  fits(memoryBytes: number): boolean {
    return this.sound && this.memoryBytes === memoryBytes;
  }

  /** Forgets all that has run and starts anew under these limits. Handles from before must not be used any more. */
  reset(limits: Limits, hooks?: JudgeHooks): void {
    this.restore();
    this.limits = limits;
    this.hooks = hooks;
    this.tracking = false;
    this.limit = undefined;
    this.interrupts = 0;
    this.allowed = interruptsFor(limits.cpuMs);
    this.stdout = '';
    if (limits.outputBytes !== DEFAULTS.outputBytes) {
      this.call(this.codec.configure, this.context.newNumber(limits.outputBytes));
    }
    this.runtime.setMaxStackSize(limits.stackBytes);
  }

  /** QuickJS and its release date. */
  version(): string {
    return `quickjs ${/\d{4}-\d\d-\d\d/.exec(this.runtime.dumpMemoryUsage())?.[0] ?? 'unknown'}`;
  }

  /**
   * High-water mark of the heap since the reset, in bytes: what the allocator has taken from the WebAssembly memory, in
   * its steps of 4 KiB, the empty interpreter's own share included. Equal programs have equal marks. Undefined where
   * the build keeps it hidden.
   */
  get peakBytes(): number | undefined {
    return gauge?.size(this.memory.buffer);
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
          throw new Halt({ kind: 'threw', name: 'Error', text: 'returned a promise that never settles' }, true);
        case 'rejected':
          throw new Halt(this.thrown(state.error).stopped, true);
        case 'fulfilled': {
          const promised = state.notAPromise !== true;
          const encoded = this.call(this.codec.encode, state.value);
          if (promised) state.value.dispose();
          return { text: this.text(encoded), promised };
        }
      }
    } finally {
      result.dispose();
    }
  }

  /** Keeps the arguments of each call from now on, for `left`. */
  track(): void {
    this.call(this.codec.track).dispose();
    this.tracking = true;
  }

  /**
   * What the program has made of its last call's arguments, as the text that `CODEC` describes; undefined without
   * `track` and where it cannot be read, e.g. because it is too large. Throws `Halt` at a limit, `Crash`.
   */
  left(): string | undefined {
    if (!this.tracking) return undefined;
    try {
      const handle = this.call(this.codec.left);
      const text = this.guarded(() => this.context.getString(handle));
      handle.dispose();
      return text === '!' ? undefined : text.slice(1);
    } catch (error) {
      if (error instanceof Halt && error.stopped.kind === 'threw') return undefined;
      throw error;
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

  /** Whether all of the heap has been in use. */
  get full(): boolean {
    return this.edge().some((byte) => byte !== 0);
  }

  get halted(): LimitKind | undefined {
    return this.limit;
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
    const speechless = name === 'thrown' && text === 'null' && this.full;
    if (exhausted || speechless) return new Halt({ kind: 'limit', limit: 'memory_limit' });
    return new Halt({ kind: 'threw', name, text });
  }

  private calibrate(): void {
    gauge = HeapGauge.find(this.memory.buffer, this.snapshot.staticBytes, (bytes) =>
      this.evaluate(`globalThis.kept = [globalThis.kept, new ArrayBuffer(${bytes})]`, 'gauge.js').dispose(),
    );
    this.restore();
  }

  /** Puts the memory back, and clears what the last program added to the heap. */
  private restore(): void {
    const { buffer } = this.memory;
    const start = this.snapshot.end;
    const end = Math.min(buffer.byteLength, Math.max(start, gauge?.end(buffer) ?? 0));
    new Uint8Array(buffer, start, end - start).fill(0);
    this.edge().fill(0);
    this.snapshot.restore(buffer);
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

  /** The end of the heap, zero unless this program has filled all of it. */
  private edge(): Uint8Array {
    const { buffer } = this.memory;
    return new Uint8Array(buffer, buffer.byteLength - EDGE_BYTES);
  }

  private graced<T>(work: () => T): T {
    this.allowed += GRACE_INTERRUPTS;
    try {
      return work();
    } finally {
      this.allowed -= GRACE_INTERRUPTS;
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
      if (error instanceof HeapFull) throw new Halt({ kind: 'limit', limit: 'memory_limit' });
      this.sound = false;
      throw new Crash(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  }
}
