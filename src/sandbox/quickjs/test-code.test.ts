import { expect, test } from 'vitest';
import { countThrows, evaluatesText, hookAsyncErrors, judgesArguments, usesAssertions } from './test-code.js';

test.each([
  ['const xs = [2, 1];\nsolve(xs);\nassert.deepEqual(xs, [1, 2]);'],
  ['const xs = [2, 1]\nsolve(xs)\nassert.deepEqual(xs, [1, 2])'],
  ['(async () => { const xs = [2, 1]; await solve(xs); assert.deepEqual(xs, [1, 2]); })()'],
  ['let candidate = solve;\nfunction test() { const xs = []; candidate(xs, 1); assert.deepEqual(xs, [1]); }\ntest();'],
  ['const sort = solve;\nfor (const xs of [[2, 1]]) { sort(xs); console.assert(xs[0] === 1); }'],
  ['const o = { xs: [] };\nif (true) solve(o.xs, ")" + `}`);\nassert.deepEqual(o, { xs: [1] });'],
  ['// @in-place\nconst xs = [1, 1];\nconst n = solve(xs);\nassert.deepEqual(xs.slice(0, n), [1]);'],
])('a suite that looks at arguments: %j', (source) => {
  expect(judgesArguments(source, 'solve')).toBe(true);
});

test.each([
  ['console.assert(Math.abs(poly(xs, solve(xs))) < 1e-4); xs;'],
  ['const xs = [2, 1];\nconst ys = solve(xs);\nassert.deepEqual(ys, [...xs].sort());'],
  ['assert.deepEqual(\n  solve(xs),\n  [...xs].sort(),\n);'],
  ['const ys =\n  solve(xs);\nassert.deepEqual(ys, xs);'],
  ['solve(xs).forEach((y, i) => assert.equal(y, xs[i]));'],
  ['solve(xs)\n  .forEach((y, i) => assert.equal(y, xs[i]));'],
  ['const check = (xs) => {\n  return solve(xs);\n};\ncheck(xs);'],
  ['assert.throws(() => { solve(xs); }); assert.deepEqual(solve(ys), xs);'],
  ['// solve(xs);\nassert.deepEqual(solve(ys), xs);'],
  ['const text = "; solve(xs); ";\nassert.equal(solve(ys), xs);'],
  ['assert.match(solve(xs), /[;(] ;solve(xs);/); xs;'],
  ['solve(null); solve([1, 2]);'],
  ['resolve(xs); o.solve(xs); xs;'],
])('a suite that looks at what is returned: %j', (source) => {
  expect(judgesArguments(source, 'solve')).toBe(false);
});

test.each([
  ['async function f(a = {}) { g(); }', 'async function f(a = {}) {try{ g(); }catch($error){throw h($error)}}'],
  ['(async () => { g(); })()', '(async () => {try{ g(); }catch($error){throw h($error)}})()'],
  ['const f = async x => { g("}"); };', 'const f = async x => {try{ g("}"); }catch($error){throw h($error)}};'],
  ['const o = { async m(x) { } };', 'const o = { async m(x) {try{ }catch($error){throw h($error)}} };'],
])('asynchronous functions are hooked: %j', (source, hooked) => {
  expect(hookAsyncErrors(source, 'h')).toBe(hooked);
});

test.each([
  ['const f = async (x) => g(x);'],
  ['// async () => { }'],
  ['const s = "async () => { }";'],
  ['async(1, 2); o.async = { a: 1 };'],
])('nothing to hook: %j', (source) => {
  expect(hookAsyncErrors(source, 'h')).toBe(source);
});

test.each([
  ['assert.equal(eval(f(1)), 2)', true],
  ['new Function("x", f(1))(2)', true],
  ['Function (f(1))', true],
  ['// eval(1)\nassert(f("eval(1)") === medieval(1) && o.eval(2))', false],
  ['assert.equal(f(1) instanceof Function, true)', false],
])('text evaluated as code in %j: %j', (source, found) => {
  expect(evaluatesText(source, 'f')).toBe(found);
  expect(evaluatesText('eval(1)', 'eval')).toBe(false);
});

test.each([
  ['console.assert(f(1))', true],
  ['assert(f(1))', true],
  ["const t = require('node:assert'); t(f(1))", true],
  ['// assert\nif (f(1) !== 2) throw new Error("assert")', false],
  ['function assertEqual(a, b) { if (a !== b) throw 1; }', false],
  ['function assert(a) { if (!a) throw 1; }', false],
  ["const assert = require('assert'); assert(f(1))", true],
])('assertions that are counted in %j: %j', (source, found) => {
  expect(usesAssertions(source)).toBe(found);
});

test.each([
  ['if (f(1) !== (2)) throw new Error("if (x) throw")', 'if (h(f(1) !== (2))) throw new Error("if (x) throw")'],
  ['if (a) { b = 1; throw c; } else if (d) throw e;', 'if (h(a)) { b = 1; throw c; } else if (h(d)) throw e;'],
  ['if (a) b(); throw c;', undefined],
  ['gif (a) throw b; "if (a) throw b"', undefined],
])('conditions of throws are counted: %j', (source, counted) => {
  expect(countThrows(source, 'h')).toBe(counted);
});
