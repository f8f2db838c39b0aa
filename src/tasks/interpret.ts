import { ops } from './ops.js';
import type { Data, Spec, Step, Type } from './spec.js';

/** Largest magnitude of an integer anywhere in a computation. */
export const LARGEST_INT = 1e9;
const LONGEST_LIST = 60;
const LONGEST_STRING = 120;

const fits = (n: number): boolean => Number.isInteger(n) && Math.abs(n) <= LARGEST_INT && !Object.is(n, -0);

/** Whether every language holds this value the same way: bounded, whole, no `-0`, no key that reads as a number. */
function sound(value: Data): boolean {
  if (typeof value === 'number') return fits(value);
  if (typeof value === 'boolean') return true;
  if (typeof value === 'string') return value.length <= LONGEST_STRING;
  if (Array.isArray(value)) return value.length <= LONGEST_LIST && (value as readonly (number | string)[]).every(sound);
  return Object.entries(value).every(([key, n]) => fits(n) && !/^\d+$/.test(key));
}

/** The output of a pipeline, or `undefined` where it is not defined for this input. */
export function interpret(steps: readonly Step[], input: Data): Data | undefined {
  let value: Data | undefined = input;
  for (const step of steps) {
    value = ops[step.op].apply(value, step.k ?? 0);
    if (value === undefined || !sound(value)) return undefined;
  }
  return value;
}

/** The type that a pipeline returns, or `undefined` when its operations do not fit together. */
export function outputType(input: Type, steps: readonly Step[]): Type | undefined {
  let type = input;
  for (const step of steps) {
    const op = ops[step.op];
    if (op.from !== type) return undefined;
    type = op.to;
  }
  return type;
}

/** A spec in one line, e.g. `ints:keepEven,mulEach(3),sum`; equal specs and only they have equal keys. */
export function specKey(spec: Spec): string {
  const steps = spec.steps.map(({ op, k }) => {
    if (k === undefined) return op;
    return `${op}(${typeof k === 'string' ? JSON.stringify(k) : k})`;
  });
  return `${spec.input}:${steps.join(',')}`;
}

/** The spec without its constants, e.g. `ints:keepEven,mulEach,sum`. */
export function shapeOf(spec: Spec): string {
  return `${spec.input}:${spec.steps.map(({ op }) => op).join(',')}`;
}

/** Equality of values; dictionaries compare without regard to order. */
export function same(a: Data, b: Data): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const left = a as Readonly<Record<string, number>>;
  const right = b as Readonly<Record<string, number>>;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}
