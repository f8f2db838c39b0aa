import type { OpName } from './ops.js';

/** The types of the task grammar. `ints` and `strs` are lists; `dict` maps strings to integers. */
export type Type = 'int' | 'ints' | 'str' | 'strs' | 'bool' | 'dict';

/** What a value of a grammar type is in TypeScript. */
export interface DataOf {
  readonly int: number;
  readonly ints: readonly number[];
  readonly str: string;
  readonly strs: readonly string[];
  readonly bool: boolean;
  readonly dict: Readonly<Record<string, number>>;
}

export type Data = DataOf[Type];

/** A constant of an operation: a small integer, a letter or a separator. */
export type Constant = number | string;

/** One operation of a pipeline, with its constant if it takes one. */
export interface Step {
  readonly op: OpName;
  readonly k?: Constant;
}

/** A task without words or language: a pipeline of operations applied to one argument. */
export interface Spec {
  readonly input: Type;
  readonly steps: readonly Step[];
}
