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
