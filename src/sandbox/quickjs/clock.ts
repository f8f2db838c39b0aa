import { openSync, readlinkSync, readSync } from 'node:fs';

/** Kernel id of the calling thread, or 0 where the system does not tell. */
export function threadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1)) || 0;
  } catch {
    return 0;
  }
}

/** Nanoseconds that a thread of this process has run, and has waited for a CPU while runnable (Linux schedstat). */
export interface SchedulerTimes {
  readonly run: number;
  readonly waited: number;
}

/** A reader of a thread's scheduler times; it returns undefined where the system does not tell. */
export function schedulerTimes(thread: number): () => SchedulerTimes | undefined {
  if (thread === 0) return () => undefined;
  let file: number;
  try {
    file = openSync(`/proc/self/task/${thread}/schedstat`, 'r');
  } catch {
    return () => undefined;
  }
  const buffer = Buffer.alloc(128);
  return () => {
    try {
      const [run, waited] = buffer.toString('latin1', 0, readSync(file, buffer, 0, 128, 0)).split(' ');
      return { run: Number(run), waited: Number(waited) };
    } catch {
      return undefined;
    }
  };
}

/** Tells how much CPU time a worker's running job has spent. */
export interface Meter {
  /** Whether it is told by the system rather than guessed. */
  readonly exact: boolean;
  /** A job begins. */
  begin(): void;
  /** To be called at every tick: milliseconds since `begin`. */
  tick(): number;
}

/** The thread's own CPU time, or undefined where the system does not tell. */
export function threadMeter(thread: number): Meter | undefined {
  const times = schedulerTimes(thread);
  if (times() === undefined) return undefined;
  const run = (): number => times()?.run ?? 0;
  let start = run();
  return {
    exact: true,
    begin: () => {
      start = run();
    },
    tick: () => (run() - start) / 1e6,
  };
}

/**
 * Where the system does not tell (macOS, Windows): the ticks in which the interpreter never polled, as only native code
 * goes that long without. `pulse` counts its interrupts, one a millisecond or less, so a thread that has to wait for a
 * CPU still shows a few a tick. It never says more than the CPU time of the whole process: a blocked thread spends none.
 */
export function pulseMeter(pulse: Int32Array, tickMs: number): Meter {
  let last = 0;
  let silent = 0;
  let start = process.cpuUsage();
  const begin = (): void => {
    last = Atomics.load(pulse, 0);
    silent = 0;
    start = process.cpuUsage();
  };
  begin();
  return {
    exact: false,
    begin,
    tick: () => {
      const now = Atomics.load(pulse, 0);
      if (now === last) silent++;
      last = now;
      const { user, system } = process.cpuUsage(start);
      return Math.min(silent * tickMs, (user + system) / 1000);
    },
  };
}
