import { Worker } from 'node:worker_threads';
import {
  type Backend,
  type BackendOptions,
  type ExecutionRequest,
  type ExecutionResult,
  type Failure,
  notExecuted,
} from '../sandbox.js';
import { decode, encode } from '../wire.js';
import { hardCpuMs, nativeCpuMs, stallMs } from './budget.js';
import { type Meter, pulseMeter, threadMeter } from './clock.js';
import { probe } from './probe.js';
import type { Job, Ready, Reply } from './protocol.js';

/** Longest program in UTF-16 code units; the interpreter's heap would have to hold it several times. */
const MAX_SOURCE = 4 * 2 ** 20;
/** Stack of a worker's thread in MiB: enough that QuickJS meets its own stack limit, an orderly error, before V8's. */
const STACK_MB = 64;
/** Jobs handed to a worker ahead of time, so that it need not wait for this thread between two of them. */
const DEPTH = 4;
const TICK_MS = 100;

interface Entry {
  readonly job: Job;
  readonly resolve: (result: ExecutionResult) => void;
  /** A worker has died or stalled under it once. */
  retried: boolean;
}

interface Slot {
  readonly worker: Worker;
  /** Handed over, oldest first; the first one is running. */
  readonly entries: Entry[];
  /** Counts the interrupts of its interpreters. */
  readonly pulse: Int32Array;
  /** Set once the worker is ready. */
  meter: Meter | undefined;
  /** Its pulse, and the CPU milliseconds of the running job, when the pulse was last seen to change. */
  polled: { readonly pulse: number; readonly spentMs: number };
  /** Ticks of a live event loop since the running job became the first. */
  ticks: number;
}

export interface QuickJSOptions extends BackendOptions {
  /** JavaScript heap of a worker in MiB, default 256; WebAssembly memory is apart. */
  readonly heapMb?: number;
  /** Milliseconds without an answer after which a worker that is ready counts as stalled; default `stallMs` of `budget.ts`. */
  readonly stallMs?: number;
  /** Whether to ask the system for the CPU time of threads, default true; tests show what becomes of hosts that do not tell. */
  readonly threadTimes?: boolean;
  /** What the workers run, default `worker.js`; another script must keep to `protocol.ts`. */
  readonly script?: URL;
}

/**
 * Opens a pool of worker threads that run QuickJS. What stands between a program and this process: the interpreter has
 * no host functions but one that takes printed text; its memory is a WebAssembly memory of fixed size, put back to its
 * first state between programs; only JSON text crosses, and it is parsed, never evaluated. `docs/verdicts.md` says what
 * this does not protect against. Limits are counted, not timed, but for native loops that never poll: those end by CPU
 * time (`clock.ts`). Workers start with the first programs and keep no process alive.
 */
export async function openQuickJS(options: QuickJSOptions): Promise<Backend> {
  return new Pool(options, await probe());
}

class Pool implements Backend {
  private readonly slots = new Set<Slot>();
  private readonly waiting: Entry[] = [];
  private nextId = 0;
  private closed = false;
  private ticker: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: QuickJSOptions,
    readonly toolchain: string,
  ) {}

  execute(request: ExecutionRequest): Promise<ExecutionResult> {
    if (this.closed) return Promise.resolve(notExecuted(CLOSED, this.toolchain));
    const { work, source } = request;
    if (source.length > MAX_SOURCE) {
      const message = `the program has ${source.length} characters, more than ${MAX_SOURCE}`;
      return Promise.resolve(notExecuted({ verdict: 'memory_limit', message }, this.toolchain));
    }
    const job: Job = {
      id: this.nextId++,
      source,
      entryPoint: request.entryPoint,
      limits: request.limits,
      work: work.kind === 'judge' ? work : { ...work, calls: work.calls.map((args) => encode(args)) },
    };
    return new Promise((resolve) => {
      this.waiting.push({ job, resolve, retried: false });
      this.pump();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.ticker);
    const entries = [...this.slots].flatMap((slot) => slot.entries).concat(this.waiting.splice(0));
    const ended = [...this.slots].map((slot) => slot.worker.terminate());
    this.slots.clear();
    for (const entry of entries) entry.resolve(notExecuted(CLOSED, this.toolchain));
    await Promise.all(ended);
  }

  private pump(): void {
    while (this.waiting.length > 0) {
      let best: Slot | undefined;
      for (const slot of this.slots) if (!best || slot.entries.length < best.entries.length) best = slot;
      if ((!best || best.entries.length > 0) && this.slots.size < this.options.workers) best = this.start();
      if (!best || best.entries.length >= DEPTH) return;
      const entry = this.waiting.shift() as Entry;
      best.entries.push(entry);
      best.worker.postMessage(entry.job);
      if (best.entries.length === 1) this.begin(best);
    }
  }

  private start(): Slot {
    const { script = new URL('./worker.js', import.meta.url), heapMb = 256 } = this.options;
    const pulse = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(script, {
      workerData: pulse,
      // No environment, no arguments, no output: a worker has nothing to tell an interpreter that went wrong.
      env: {},
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: heapMb },
    });
    const slot: Slot = { worker, entries: [], pulse, meter: undefined, polled: { pulse: 0, spentMs: 0 }, ticks: 0 };
    worker.on('message', (message: Ready | Reply) => this.receive(slot, message));
    worker.on('messageerror', (error) => this.lose(slot, `the worker sent what cannot be read: ${error.message}`));
    worker.on('error', (error) => this.lose(slot, `the worker failed: ${error.message}`));
    worker.on('exit', () => this.lose(slot, 'the worker ended'));
    worker.unref();
    this.slots.add(slot);
    this.ticker ??= setInterval(() => setImmediate(() => this.watch()), TICK_MS).unref();
    return slot;
  }

  private begin(slot: Slot): void {
    slot.ticks = 0;
    slot.polled = { pulse: Atomics.load(slot.pulse, 0), spentMs: 0 };
    slot.meter?.begin();
    slot.worker.ref();
  }

  private receive(slot: Slot, message: Ready | Reply): void {
    if (!this.slots.has(slot)) return; // Already given up.
    try {
      this.accept(slot, message);
    } catch (error) {
      // Thrown on, it would end the process: nothing stands above an event handler.
      const reason = error instanceof Error ? error.message : String(error);
      this.lose(slot, `the worker gave a malformed answer: ${reason}`, 'worker_garbled');
    }
    this.pump();
  }

  private accept(slot: Slot, message: Ready | Reply): void {
    if (message.kind === 'ready') {
      const { threadTimes = true } = this.options;
      slot.meter = (threadTimes ? threadMeter(message.thread) : undefined) ?? pulseMeter(slot.pulse, TICK_MS);
      if (slot.entries.length > 0) this.begin(slot);
      return;
    }
    const entry = slot.entries[0];
    if (message.id !== entry?.job.id) throw new Error('out of order');
    entry.resolve(resultOf(message, this.toolchain));
    slot.entries.shift();
    if (slot.entries.length > 0) this.begin(slot);
    else slot.worker.unref();
  }

  /**
   * Stops workers that run too long. Time is counted in ticks of this thread's event loop, after it has taken in what
   * the workers sent: a trainer that blocks this thread for a minute must not turn into time limits.
   */
  private watch(): void {
    for (const slot of this.slots) {
      const entry = slot.entries[0];
      if (entry === undefined) continue;
      slot.ticks++;
      const { cpuMs } = entry.job.limits;
      const spentMs = slot.meter?.tick() ?? 0;
      const pulse = Atomics.load(slot.pulse, 0);
      if (pulse !== slot.polled.pulse) slot.polled = { pulse, spentMs };
      const native = slot.meter?.exact === true && spentMs - slot.polled.spentMs > nativeCpuMs(cpuMs);
      const patienceMs = (slot.meter && this.options.stallMs) ?? stallMs(cpuMs);
      if (native || spentMs > hardCpuMs(cpuMs)) {
        this.slots.delete(slot);
        void slot.worker.terminate();
        slot.entries.shift();
        const message = 'CPU time limit exceeded in native code';
        entry.resolve({
          ...notExecuted({ verdict: 'time_limit', message }, this.toolchain),
          cpuMs: spentMs,
          wallMs: slot.ticks * TICK_MS,
        });
        this.requeue(slot.entries);
      } else if (slot.ticks * TICK_MS > patienceMs) {
        this.lose(slot, 'the worker did not answer, though CPU time was left', 'worker_stalled');
      }
    }
  }

  /** A worker is gone: the program it ran is tried once more elsewhere, those behind it lose nothing. */
  private lose(slot: Slot, message: string, code = 'worker_died'): void {
    if (!this.slots.delete(slot)) return;
    void slot.worker.terminate();
    const head = slot.entries[0];
    if (head?.retried) {
      slot.entries.shift();
      const hint = 'it failed twice on this program; the machine may be short of memory';
      head.resolve(notExecuted({ verdict: 'infra_error', code, message, hint }, this.toolchain));
    } else if (head) {
      head.retried = true;
    }
    this.requeue(slot.entries);
  }

  private requeue(entries: readonly Entry[]): void {
    this.waiting.unshift(...entries);
    this.pump();
  }
}

/** What a reply says. Throws where it is not what `protocol.ts` promises. */
function resultOf(reply: Reply, toolchain: string): ExecutionResult {
  const { calls, assertions, stdout, cpuMs, wallMs, peakBytes, failure } = reply;
  if (!Array.isArray(assertions)) throw new Error('no assertions');
  return {
    ...(failure ? { failure } : {}),
    calls: calls.map((call) => (call.kind === 'returned' ? { kind: 'returned', value: decode(call.text) } : call)),
    assertions,
    stdout,
    cpuMs,
    wallMs,
    ...(peakBytes === undefined ? {} : { peakBytes }),
    toolchain,
  };
}

const CLOSED: Failure = { verdict: 'infra_error', code: 'closed', message: 'the sandbox was closed' };
