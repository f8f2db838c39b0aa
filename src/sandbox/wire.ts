import type { Value } from '../core/value.js';

/**
 * How values cross the sandbox boundary: JSON text, in which everything that JSON lacks is a tagged string.
 *
 * A tagged string starts with U+0001: `\u0001NaN`, `\u0001Infinity`, `\u0001-Infinity`, `\u0001-0`,
 * `\u0001undefined`, `\u0001bigint:123`, `\u0001function`, `\u0001symbol`, `\u0001deep` (nested deeper than
 * `MAX_DEPTH`, so perhaps cyclic), `\u0001opaque`. An ordinary string that starts with U+0001 is written `\u0001s` +
 * the string, so that no program can forge a tag. Collections are arrays headed by a tagged string:
 * `['\u0001map', [[k, v], …]]`, `['\u0001set', […]]`, `['\u0001date', ms]`, `['\u0001boxed', v]`, `['\u0001Int8Array', […]]` ….
 */
export const TAG = '\u0001';

/** Deepest nesting that crosses; anything below is `\u0001deep`. */
export const MAX_DEPTH = 200;

const SPECIAL_NUMBERS = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
]);

/** The tagged string of something that JSON lacks. */
export const tag = (name: string): string => TAG + name;

/** The number that a wire value stands for, special ones included, or undefined where it is no number. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !value.startsWith(TAG)) return undefined;
  return SPECIAL_NUMBERS.get(value.slice(1));
}

function tagged(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(TAG) ? `${TAG}s${value}` : value;
  if (typeof value !== 'number') return value;
  if (Number.isFinite(value)) return Object.is(value, -0) ? tag('-0') : value;
  return tag(String(value));
}

/** The wire text of a value; ordinary strings that look like tags are escaped. */
export function encode(value: Value): string {
  return JSON.stringify(value, (_key, item: unknown) => tagged(item));
}

/** A wire text as a value; tags stay tagged strings. Throws `SyntaxError` on text that is not JSON. */
export function decode(text: string): Value {
  return JSON.parse(text) as Value;
}

/** A plain value as it would look after crossing, for comparison with values that did. */
export function toWire(value: Value): Value {
  return decode(encode(value));
}
