import type { Value } from '../core/value.js';
import { numberOf } from '../sandbox/index.js';

/** Decides whether a result is right. Pure; both values are wire values (`sandbox/wire.ts`). */
export interface Comparator {
  /** Enters the cache key: comparators of one name must agree. */
  readonly name: string;
  equal(actual: Value, expected: Value): boolean;
}

type Numbers = (actual: number, expected: number) => boolean;

const isArray = (value: Value): value is readonly Value[] => Array.isArray(value);

function deepEqual(actual: Value, expected: Value, numbers: Numbers): boolean {
  const a = numberOf(actual);
  const e = numberOf(expected);
  if (a !== undefined && e !== undefined) return numbers(a, e);
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) {
    return actual === expected;
  }
  if (isArray(actual) || isArray(expected)) {
    return (
      isArray(actual) &&
      isArray(expected) &&
      actual.length === expected.length &&
      actual.every((item, i) => deepEqual(item, expected[i] as Value, numbers))
    );
  }
  const names = Object.keys(actual);
  return (
    names.length === Object.keys(expected).length &&
    names.every(
      (name) => Object.hasOwn(expected, name) && deepEqual(actual[name] as Value, expected[name] as Value, numbers),
    )
  );
}

/** Deep equality of JSON: numbers by value (−0 equals 0, NaN equals NaN), objects whatever the order of their keys. */
export const exact: Comparator = {
  name: 'exact',
  equal: (actual, expected) => deepEqual(actual, expected, (a, e) => a === e || (Number.isNaN(a) && Number.isNaN(e))),
};

/**
 * Deep equality with |actual − expected| ≤ atol + rtol·|expected| wherever both are numbers; infinities and NaN only
 * equal themselves. Integers are held to the tolerance too. Defaults are EvalPlus's for floats (rtol 1e-7, atol 1e-6).
 */
export function floats({
  rtol = 1e-7,
  atol = 1e-6,
}: {
  readonly rtol?: number;
  readonly atol?: number;
} = {}): Comparator {
  const near: Numbers = (a, e) =>
    a === e ||
    (Number.isNaN(a) && Number.isNaN(e)) ||
    (Number.isFinite(a) && Number.isFinite(e) && Math.abs(a - e) <= atol + rtol * Math.abs(e));
  return { name: `floats(${rtol},${atol})`, equal: (actual, expected) => deepEqual(actual, expected, near) };
}

/** A text that equal values share; arrays down to `sortDepth` levels are sorted by theirs. */
function canonical(value: Value, sortDepth: number): string {
  const number = numberOf(value);
  if (number !== undefined) return `#${number === 0 ? 0 : number}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isArray(value)) {
    const items = value.map((item) => canonical(item, sortDepth - 1));
    return `[${(sortDepth > 0 ? items.sort() : items).join()}]`;
  }
  const fields = Object.keys(value).sort();
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name] as Value, sortDepth - 1)}`).join()}}`;
}

/** As `exact`, but the outermost array (with `deep`, every array) is compared as a multiset. */
export function unordered({ deep = false }: { readonly deep?: boolean } = {}): Comparator {
  const depth = deep ? Number.POSITIVE_INFINITY : 1;
  return {
    name: deep ? 'unordered(deep)' : 'unordered',
    equal: (actual, expected) => canonical(actual, depth) === canonical(expected, depth),
  };
}
