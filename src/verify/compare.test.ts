import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Value } from '../core/value.js';
import { tag, toWire } from '../sandbox/index.js';
import { exact, floats, unordered } from './compare.js';

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => toWire(value as Value));

/** The same value with the keys of every object in another order. */
const reordered = (value: Value): Value => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reordered);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reordered(item)]),
  );
};

test('every comparator holds a value equal to itself, whatever the order of keys', () => {
  fc.assert(
    fc.property(json, (value) => {
      for (const { equal } of [exact, floats(), unordered(), unordered({ deep: true })]) {
        expect(equal(value, reordered(value))).toBe(true);
      }
    }),
  );
});

test('exact equality is that of canonical text', () => {
  const text = (value: Value): string =>
    JSON.stringify(value, (_key, item: unknown) =>
      item !== null && typeof item === 'object' && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
        : item === tag('-0')
          ? 0
          : item,
    );
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(exact.equal(a, b)).toBe(text(a) === text(b));
    }),
  );
});

test('changing one leaf is seen by exact', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer(), { minLength: 1 }), { minLength: 1 }), fc.nat(), (rows, at) => {
      const changed = rows.map((row) => [...row]);
      const row = changed[at % rows.length] as number[];
      row[at % row.length] = (row[at % row.length] as number) + 1;
      expect(exact.equal(changed, rows)).toBe(false);
    }),
  );
});

test('exact tells types apart', () => {
  const different: readonly (readonly [Value, Value])[] = [
    [1, '1'],
    [0, false],
    [null, 0],
    [null, {}],
    [[], {}],
    [[1], { 0: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1 }, { b: 1 }],
    [[1, 2], [1]],
    ['', null],
    [tag('undefined'), null],
    [tag('NaN'), 'NaN'],
    [tag('bigint:1'), 1],
  ];
  for (const [a, b] of different) {
    expect(exact.equal(a, b)).toBe(false);
    expect(exact.equal(b, a)).toBe(false);
  }
  expect(exact.equal(tag('-0'), 0)).toBe(true);
});

test('an inherited name is no key', () => {
  expect(exact.equal({ toString: 1 }, { valueOf: 1 })).toBe(false);
  expect(exact.equal({ a: 1 }, { toString: 1 })).toBe(false);
});

test('floats allows the stated tolerance and no more', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.double({ min: 0, max: 3, noNaN: true }),
      (expected, k) => {
        fc.pre(Math.abs(k - 1) > 1e-3);
        const slack = 1e-3 + 1e-4 * Math.abs(expected);
        expect(floats({ rtol: 1e-4, atol: 1e-3 }).equal([expected + k * slack], [expected])).toBe(k < 1);
      },
    ),
  );
  expect(floats().equal(0.1 + 0.2, 0.3)).toBe(true);
  expect(exact.equal(0.1 + 0.2, 0.3)).toBe(false);
  expect(floats().equal(tag('Infinity'), 1e308)).toBe(false);
  expect(floats().equal(tag('NaN'), 0)).toBe(false);
  expect(floats().equal({ a: [1 + 1e-9] }, { a: [1] })).toBe(true);
  expect(floats().equal('1', 1)).toBe(false);
});

test('unordered compares the outermost array as a multiset', () => {
  fc.assert(
    fc.property(fc.array(json), fc.infiniteStream(fc.nat()), (items, picks) => {
      const rest = [...items];
      const shuffled = items.map(() => rest.splice((picks.next().value as number) % rest.length, 1)[0] as Value);
      expect(unordered().equal(shuffled, items)).toBe(true);
    }),
  );
  expect(unordered().equal([1, 1, 2], [1, 2, 2])).toBe(false);
  expect(unordered().equal([1], [1, 1])).toBe(false);
  expect(unordered().equal([[1, 2]], [[2, 1]])).toBe(false);
  expect(unordered({ deep: true }).equal({ a: [[1, 2], 3] }, { a: [3, [2, 1]] })).toBe(true);
  expect(unordered().equal(['1'], [1])).toBe(false);
  expect(unordered().equal(['1,2'], ['1', '2'])).toBe(false);
});

test('comparators that differ have names that differ', () => {
  const names = [exact, floats(), floats({ rtol: 0 }), floats({ atol: 0 }), unordered(), unordered({ deep: true })].map(
    (c) => c.name,
  );
  expect(new Set(names).size).toBe(names.length);
});
