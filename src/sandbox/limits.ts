/** What a program may use. Equal limits give equal verdicts, however busy the machine is. */
export interface Limits {
  /**
   * CPU time of the whole program in milliseconds of the reference machine. Backends that can count instructions count
   * them instead, so that the limit is a property of the program; `quickjs/budget.ts` has the rate.
   */
  readonly cpuMs: number;
  /** Heap in bytes. */
  readonly memoryBytes: number;
  /** Call stack in bytes. */
  readonly stackBytes: number;
  /** Printed output, and separately returned data, in UTF-16 code units. */
  readonly outputBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  cpuMs: 1000,
  memoryBytes: 64 * 2 ** 20,
  stackBytes: 2 ** 20,
  outputBytes: 2 ** 20,
};

/** Which limit ended a program; also the verdict. */
export type LimitKind = 'time_limit' | 'memory_limit' | 'output_limit';
