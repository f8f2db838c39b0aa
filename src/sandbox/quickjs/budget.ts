/**
 * QuickJS calls its interrupt handler once in 10,000 polls, and polls at every call, every backward jump and in the
 * regular-expression matcher. The number of polls is a property of the program, so counting them makes the time limit
 * one too. On the reference machine (2.0 GHz Xeon) an interrupt is 0.3–0.8 ms of CPU.
 */
export const INTERRUPTS_PER_MS = 2;

/** Interrupts that a program with `cpuMs` milliseconds may use. */
export const interruptsFor = (cpuMs: number): number => Math.max(1, Math.ceil(cpuMs * INTERRUPTS_PER_MS));

/**
 * CPU milliseconds without any interrupt after which native code is taken for a loop that never polls (a search in an
 * array of length 2³², an unlucky search in a long text). A program that does nothing else has its own limit and a
 * second on top; those loops run for many seconds.
 */
export const nativeCpuMs = (cpuMs: number): number => cpuMs + 1000;

/**
 * CPU milliseconds after which a worker is stopped all the same. Long native stretches between polls end here;
 * the slack keeps slow machines clear of it.
 */
export const hardCpuMs = (cpuMs: number): number => 5 * cpuMs + 2000;

/** Wall milliseconds without an answer, CPU time unspent, after which the worker counts as stalled: a fault of ours. */
export const stallMs = (cpuMs: number): number => 4 * hardCpuMs(cpuMs) + 20_000;
