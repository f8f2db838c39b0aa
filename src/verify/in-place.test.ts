import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestsEvidence } from '../core/evidence.js';
import type { Verifier } from '../core/verifier.js';
import { taskOf, testsOf } from './fixtures.js';
import { createVerifier } from './verifier.js';

let verifier: Verifier;
beforeAll(async () => {
  verifier = await createVerifier({ workers: 1 });
});
afterAll(() => verifier.close());

const judge = (source: string, program: string): Promise<TestsEvidence> =>
  testsOf(verifier, taskOf({ kind: 'asserts', source }), program);

test('an in-place function left the tests’ own array as it was', async () => {
  const source = 'const xs = [3, 1, 2];\nsolve(xs);\nassert.deepEqual(xs, [1, 2, 3]);';
  expect(await judge(source, 'const solve = (xs) => void xs.sort((a, b) => a - b);')).toMatchObject({
    verdict: 'accepted',
    passed: 1,
  });
  expect(await judge(source, 'const solve = (xs) => [...xs].sort((a, b) => a - b);')).toMatchObject({
    verdict: 'wrong_answer',
    message: '[3,1,2] differs from [1,2,3]',
  });
});

test('what was changed before a throw', async () => {
  const source = '// @in-place\nconst a = [1]; assert.throws(() => solve(a), /late/); assert.deepEqual(a, [1, 2]);';
  expect(await judge(source, 'const solve = (a) => { a.push(2); throw new Error("late"); };')).toMatchObject({
    verdict: 'accepted',
    passed: 2,
  });
});

describe.each([
  ['an array that grows', 'const a = [1];', 'a.push(2, [3])', 'assert.deepStrictEqual(a, [1, 2, [3]])'],
  ['an array that shrinks', 'const a = [1, 2, 3];', 'a.splice(0, 2)', 'assert.deepStrictEqual(a, [3])'],
  [
    'records that are sorted keep their identity',
    'const x = { k: 2 }, y = { k: 1 }, a = [x, y];',
    'a.sort((p, q) => p.k - q.k)',
    'assert.ok(a[0] === y && a[1] === x); assert.equal(x.k, 2)',
  ],
  [
    'a linked list that is reversed',
    'const c = { v: 3, next: null }, b = { v: 2, next: c }, a = { v: 1, next: b };',
    'let p = null, q = a; while (q) { const n = q.next; q.next = p; p = q; q = n; }',
    'assert.ok(c.next === b && b.next === a && a.next === null)',
  ],
  [
    'a tree of a class, given parents',
    'class Node { constructor(l) { this.l = l; } get left() { return this.l; } }; const a = new Node(new Node(null));',
    'a.l.parent = a',
    'assert.ok(a.left.parent === a && a instanceof Node && a.left instanceof Node)',
  ],
  [
    'keys that come and go, in order',
    'const a = { x: 1, y: 2, z: 3 };',
    'delete a.x; a.x = 0; delete a.y',
    'assert.equal(JSON.stringify(a), \'{"z":3,"x":0}\')',
  ],
  [
    'maps, sets, dates and typed arrays',
    'const k = {}, a = [new Map([[k, 1], ["x", 2]]), new Set([1, k]), new Date(5), new Int8Array(3)];',
    'a[0].delete("x"); a[0].set("y", -0); a[1].delete(1); a[2].setTime(7); a[3].fill(4)',
    `assert.ok(a[0].get(k) === 1 && Object.is(a[0].get('y'), -0) && a[0].size === 2 && a[1].has(k));
     assert.deepStrictEqual([a[1].size, a[2].getTime(), [...a[3]]], [1, 7, [4, 4, 4]])`,
  ],
  [
    'functions, symbols, holes and getters stay what they were',
    'const s = Symbol(), f = () => 1, e = new Error("e"), a = [f, , s, e, { get g() { return []; } }, Object(1)], g = a[4];',
    'a.reverse().push(undefined)',
    `assert.ok(a[5] === f && a[3] === s && a[2] === e && a[1] === g && a[0].valueOf() === 1 && e.message === 'e');
     assert.equal(a.length, 7)`,
  ],
  [
    'what is frozen stays',
    'const a = Object.freeze([1, Object.freeze({ b: 2 })]);',
    'a[0] = 5; a[1].b = 3; a.push(1)',
    'assert.deepEqual(a, [1, { b: 2 }])',
  ],
  ['one array given twice', 'const x = [1], a = [x, x];', 'a[0].push(2)', 'assert.ok(a[0] === x)'],
  [
    'nothing',
    'const h = [, 1], a = { h, u: undefined, n: NaN, b: 10n ** 2000n };',
    '0',
    'assert.ok(!(0 in a.h) && "u" in a && a.b === 10n ** 2000n)',
  ],
])('%s', (_name, given, change, check) => {
  test.each([
    ['function', `function solve(a) { ${change}; }`, 'try { solve(a); } catch {}\n'],
    ['async function', `async function solve(a) { await null; ${change}; }`, 'await solve(a).catch(() => {});\n'],
  ])('changed by a %s', async (_kind, program, call) => {
    const source = `// @in-place\n(async () => { ${given}\n${call}${check}; })()`;
    const evidence = await judge(source, program);
    expect(evidence.results.filter((result) => result.verdict !== 'accepted')).toEqual([]);
    expect(evidence.verdict).toBe('accepted');
  });
});
