import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestsEvidence } from '../core/evidence.js';
import type { Task } from '../core/task.js';
import type { Verifier } from '../core/verifier.js';
import { promptHelpers } from './asserts.js';
import { taskOf, testsOf } from './fixtures.js';
import { createVerifier } from './verifier.js';

let verifier: Verifier;
beforeAll(async () => {
  verifier = await createVerifier({ workers: 1 });
});
afterAll(() => verifier.close());

const judge = (source: string, program: string, rest: Partial<Task> = {}): Promise<TestsEvidence> =>
  testsOf(verifier, taskOf({ kind: 'asserts', source }, rest), program);

test('HumanEval-X style: console.assert', async () => {
  const source =
    'const check = () => { console.assert(solve(2) === 4); console.assert(solve(-1) === 1, "odd"); }\ncheck()\n';
  expect(await judge(source, 'const solve = (x) => x * x;')).toMatchObject({
    verdict: 'accepted',
    passed: 2,
    total: 2,
  });
  const wrong = await judge(source, 'const solve = (x) => (x > 0 ? x * x : 0);');
  expect(wrong).toMatchObject({ verdict: 'wrong_answer', passed: 1, total: 2, message: 'odd' });
});

test('MultiPL-E style: require("node:assert") and a candidate', async () => {
  const source = `const assert = require('node:assert');
    function test() { let candidate = solve; assert.deepEqual(candidate([1, 2], { a: [null] }), [[1, 2], { a: [null] }]); assert.deepEqual(candidate([], 1), [[], 1]); }
    test();`;
  expect(await judge(source, 'const solve = (...xs) => xs;')).toMatchObject({
    verdict: 'accepted',
    passed: 2,
    total: 2,
  });
  const wrong = await judge(source, 'const solve = (a) => [a, { a: [null] }];');
  expect(wrong).toMatchObject({ verdict: 'wrong_answer', passed: 1, message: '[[],{"a":[null]}] differs from [[],1]' });
});

test('every assertion can pass, and can fail', async () => {
  const pairs: readonly (readonly [string, string])[] = [
    ['assert(solve(1))', 'assert(solve(0))'],
    ['assert.ok(solve(1))', 'assert.ok(solve(""))'],
    ['assert.equal(solve(1), "1")', 'assert.equal(solve(1), 2)'],
    ['assert.notEqual(solve(1), 2)', 'assert.notEqual(solve(1), "1")'],
    ['assert.strictEqual(solve(1), 1)', 'assert.strictEqual(solve(1), "1")'],
    ['assert.notStrictEqual(solve(1), "1")', 'assert.notStrictEqual(solve(1), 1)'],
    ['assert.strictEqual(solve(NaN), NaN)', 'assert.strictEqual(solve(-0), 0)'],
    ['assert.deepEqual(solve([1, { a: 1 }]), [1, { a: "1" }])', 'assert.deepEqual(solve([1]), [1, 2])'],
    ['assert.notDeepEqual(solve([1]), [2])', 'assert.notDeepEqual(solve([1]), ["1"])'],
    ['assert.deepStrictEqual(solve([1, { a: 1 }]), [1, { a: 1 }])', 'assert.deepStrictEqual(solve([1]), ["1"])'],
    [
      'assert.deepStrictEqual(solve(new Map([[1, [2]]])), new Map([[1, [2]]]))',
      'assert.deepStrictEqual(solve(new Set([1])), new Set([2]))',
    ],
    ['assert.notDeepStrictEqual(solve([1]), ["1"])', 'assert.notDeepStrictEqual(solve([1]), [1])'],
    ['assert.deepEqual(solve([]), [])', 'assert.deepEqual(solve([]), {})'],
    ['assert.deepEqual(solve(undefined), undefined)', 'assert.deepEqual(solve({ a: undefined }), {})'],
    ['assert.equal(solve(10n), 10n)', 'assert.equal(solve(10n), 11n)'],
    ['assert.throws(() => solve("throw"))', 'assert.throws(() => solve(1))'],
    ['assert.throws(() => solve("throw"), RangeError)', 'assert.throws(() => solve("throw"), TypeError)'],
    ['assert.throws(() => solve("throw"), /asked/)', 'assert.throws(() => solve("throw"), { message: "other" })'],
    ['assert.doesNotThrow(() => solve(1))', 'assert.doesNotThrow(() => solve("throw"))'],
    ['assert.deepEqual(solve(6), "6")', 'assert.deepEqual(solve([6]), 6)'],
    ['assert.notDeepEqual(solve([6]), 6)', 'assert.notDeepEqual(solve(6), 6)'],
    ['assert.deepEqual(solve([NaN, null]), [NaN, undefined])', 'assert.deepEqual(solve([{}]), ["[object Object]"])'],
    [
      'assert.deepEqual(solve(new Set([[1], [2]])), new Set([[2], [1]]))',
      'assert.deepEqual(solve(new Set([[1], [1]])), new Set([[1], [2]]))',
    ],
    [
      'assert.deepEqual(solve(new Map([[[1], 2], [3, 4]])), new Map([[3, 4], [[1], 2]]))',
      'assert.deepEqual(solve(new Map([[[1], 2], [[1], 3]])), new Map([[[1], 2], [[1], 2]]))',
    ],
    ['assert.deepEqual(solve(Object(6)), Object(6))', 'assert.deepEqual(solve(Object(6)), Object(7))'],
    ['assert.ok(true)', 'assert.fail("never")'],
    ['require("assert").strict.equal(solve(1), 1)', 'require("assert/strict").equal(solve(1), "1")'],
    ['console.assert(solve(1) === 1)', 'console.assert(solve(1) === 2)'],
  ];
  const program = 'const solve = (x) => { if (x === "throw") throw new RangeError("as asked"); return x; };';
  for (const [passing, failing] of pairs) {
    expect([passing, (await judge(passing, program)).verdict]).toEqual([passing, 'accepted']);
    expect([failing, (await judge(failing, program)).verdict]).toEqual([failing, 'wrong_answer']);
  }
});

test('asynchronous test code is awaited, and loses no error', async () => {
  const source = '(async () => { console.assert((await solve(1)) === 2); console.assert((await solve(2)) === 3); })()';
  expect(await judge(source, 'const solve = async (x) => x + 1;')).toMatchObject({ verdict: 'accepted', total: 2 });
  expect(
    await judge(source, 'const solve = async (x) => { if (x > 1) throw new Error("two"); return 2; };'),
  ).toMatchObject({
    verdict: 'runtime_error',
    passed: 1,
    total: 2,
    message: 'Error: two',
  });
  const detached = `async function run() { console.assert((await solve(1)) === 2); await solve(2); } run(); 1`;
  expect(await judge(detached, 'const solve = (x) => { if (x > 1) throw new Error("two"); return 2; };')).toMatchObject(
    {
      verdict: 'runtime_error',
    },
  );
  const chained = 'solve(1).then((x) => console.assert(x === 2))';
  expect(await judge(chained, 'const solve = async (x) => x + 1;')).toMatchObject({ verdict: 'accepted' });
});

test.each([
  ['two functions', 'async function a() { T; }\nasync function b() { console.assert(true); }\na(); b();'],
  ['a lone arrow', '(async () => { T; })(); 1'],
  ['a callback', 'solve(0).then(async () => { T; }); 1'],
  ['a plain callback', 'solve(0).then(() => solve(1)).then((x) => { console.assert(x.value === 1); }); solve(2); 1'],
])(
  'a wrong answer that broke detached test code passed, as what it never asserted was not missed: %s',
  async (_name, code) => {
    const body = 'const x = await solve(1); console.assert(x.value === 1)';
    const source = `console.assert(solve.name !== 'x');\n${code.replace('T', body)}`;
    const right = 'const solve = async (x) => ({ value: x });';
    expect(await judge(source, right)).toMatchObject({ verdict: 'accepted' });
    expect(await judge(source, 'const solve = async () => {};')).toMatchObject({
      verdict: 'wrong_answer',
      message: expect.stringContaining('test code threw'),
    });
  },
);

test('what the program throws is its own error, what the tests do wrong is not', async () => {
  expect(await judge('console.assert(solve() === 1)', 'function solve() { return missing; }')).toMatchObject({
    verdict: 'runtime_error',
    message: "ReferenceError: 'missing' is not defined",
  });
  const thrownByTests = await judge('console.assert(solve().length === 1)', 'function solve() {}');
  expect(thrownByTests).toMatchObject({ verdict: 'wrong_answer', message: expect.stringContaining('test code threw') });
  const unparsable = await judge('console.assert(JSON.parse(solve()) === 1)', 'const solve = () => "{";');
  expect(unparsable).toMatchObject({ verdict: 'wrong_answer' });
});

test.each([
  ['asserts nothing', '1 + 1'],
  ['does not parse', 'console.assert('],
  ['uses what is not there', 'undefinedHelper(); console.assert(solve(1) === 1)'],
  ['never ends', 'for (;;); assert(solve(1))'],
  ['evaluates text', 'assert.equal(eval(solve("1")), 1)'],
  ['makes functions of text', 'assert.equal(new Function(solve("return 1"))(), 1)'],
  ['neither asserts nor throws', 'solve(1); if (solve(2) !== 3) console.log("wrong")'],
])('a suite that %s is bad, not passed', async (_name, source) => {
  expect(await judge(source, 'const solve = (x) => x;')).toMatchObject({
    verdict: 'infra_error',
    passed: 0,
    cached: false,
  });
});

test('a program cannot leave its group by an answer that the tests have nothing to say about', async () => {
  const source = 'for (const x of solve(3)) assert.equal(x, 1)';
  expect(await judge(source, 'const solve = () => [];')).toMatchObject({ verdict: 'wrong_answer', passed: 0 });
  expect(await judge(source, 'const solve = (n) => Array(n).fill(1);')).toMatchObject({ verdict: 'accepted' });
});

test.each([
  ['a name', 'const r = solve(1); assert.equal(typeof r === "string" ? missing : r, 1)'],
  ['text to parse', 'assert.equal(new RegExp(solve(1)).source, "1")'],
  ['a key', 'const o = { a: () => 1 }; assert.equal(o[solve(1)](), 1)'],
])('a program left its group by an answer on which the test code fails: %s', async (_name, source) => {
  expect(await judge(source, 'const solve = () => "(";')).toMatchObject({ verdict: 'wrong_answer', passed: 0 });
});

test.each([
  ['eval by another name', 'const e = eval; assert.strictEqual(e(solve([1, 2])), 3)'],
  ['indirectly', 'assert.strictEqual((0, eval)(solve([1, 2])), 3)'],
  ['a constructor', 'assert.strictEqual((() => {}).constructor("return " + solve([1, 2]))(), 3)'],
  ['Function by another name', 'const F = globalThis.Function; assert.strictEqual(F(solve([1, 2]))(), 3)'],
  ['an asynchronous one', '(async () => {}).constructor(solve([1, 2]))(); assert.strictEqual(solve([1, 2]), 3)'],
  ['a generator', '(function* () {}).constructor(solve([1, 2]))().next(); assert.strictEqual(solve([1, 2]), 3)'],
  ['both', '(async function* () {}).constructor(solve([1, 2]))().next(); assert.strictEqual(solve([1, 2]), 3)'],
])('what a program answered was run among the assertions: %s', async (_name, source) => {
  const forged = 'const solve = () => "assert(true);assert.strictEqual=()=>{};console.assert=()=>{};3";';
  expect(await judge(source, forged)).toMatchObject({
    verdict: 'wrong_answer',
    passed: 0,
    message: expect.stringContaining('cannot evaluate text as code'),
  });
});

test('assertions could be replaced; now only added', async () => {
  const source = `assert.strictEqual = console.assert = () => {}; assert.strict.equal = () => {}; console = {};
    assert.odd = (n) => assert.ok(n % 2); assert.odd(1); console.assert(true); assert.strictEqual(solve(1), 2);`;
  expect(await judge(source, 'const solve = (x) => x;')).toMatchObject({
    verdict: 'wrong_answer',
    passed: 2,
    total: 3,
  });
});

describe('test code that throws rather than asserts', () => {
  const source =
    'if (solve(1, 2) !== 3) throw new Error("bad sum"); if (solve(0, 0) !== 0) { throw new Error("bad zero"); }';
  const right = 'const solve = (a, b) => a + b;';

  test('could never be passed', async () => {
    expect(await judge(source, right)).toMatchObject({ verdict: 'accepted', passed: 2, total: 2 });
    const helper = 'const eq = (a, b) => { if (a !== b) throw new Error(a + " is not " + b); }; eq(solve(1, 2), 3);';
    expect(await judge(helper, right)).toMatchObject({ verdict: 'accepted', passed: 1 });
    const own = 'function assert(ok) { if (!ok) throw new Error("no"); } assert(solve(1, 2) === 3);';
    expect(await judge(own, right)).toMatchObject({ verdict: 'accepted', passed: 1 });
    const later = '(async () => { if ((await solve(1, 2)) !== 3) throw new Error("bad sum"); })(); 1';
    expect(await judge(later, right)).toMatchObject({ verdict: 'accepted', passed: 1 });
    expect(await judge(later, 'const solve = () => 4;')).toMatchObject({ verdict: 'wrong_answer', passed: 0 });
  });

  test('fails what is wrong', async () => {
    expect(await judge(source, 'const solve = (a, b) => 3;')).toMatchObject({
      verdict: 'wrong_answer',
      passed: 1,
      message: 'the test code threw on what the program returned: Error: bad zero',
    });
    expect(await judge(source, 'const solve = () => { throw new Error("x"); };')).toMatchObject({
      verdict: 'runtime_error',
    });
  });

  test('asks for a condition that was looked at, of an empty answer too', async () => {
    const loop = 'for (const x of solve(3)) if (x !== 1) throw new Error("bad")';
    expect(await judge(loop, 'const solve = () => [];')).toMatchObject({ verdict: 'wrong_answer', passed: 0 });
    expect(await judge(loop, 'const solve = (n) => Array(n).fill(1);')).toMatchObject({ verdict: 'accepted' });
  });
});

test('helpers of the prompt come from the prompt, not from the program', async () => {
  const prompt = 'const poly = (xs, x) => xs.reduce((sum, c, i) => sum + c * x ** i, 0);\nconst solve = (xs) => {\n';
  expect(promptHelpers({ prompt, entryPoint: 'solve' })).toBe(
    'const poly = (xs, x) => xs.reduce((sum, c, i) => sum + c * x ** i, 0);\n',
  );
  const source = 'console.assert(Math.abs(poly([1, 2], solve([1, 2]))) < 1e-6)';
  expect(await judge(source, '  return -xs[0] / xs[1];\n}', { prompt })).toMatchObject({ verdict: 'accepted' });
  const cheat = '```js\nconst poly = () => 0; const solve = () => 1;\n```';
  expect(await judge(source, cheat, { prompt })).toMatchObject({ verdict: 'wrong_answer' });
});

test('a prompt whose first part does not run here spoils only tests that need it', async () => {
  const prompt = "const crypto = require('crypto');\nconst solve = (x) => {\n";
  const whole = '```js\nconst solve = (x) => x;\n```';
  expect(await judge('assert.equal(solve(1), 1)', whole, { prompt })).toMatchObject({ verdict: 'accepted' });
  expect(await judge('assert.equal(crypto, solve(1))', whole, { prompt })).toMatchObject({ verdict: 'infra_error' });
});

const dataset = '../shared/data/humaneval-x/humanevalx_js.jsonl.gz';
interface Row {
  readonly task_id: string;
  readonly prompt: string;
  readonly declaration: string;
  readonly canonical_solution: string;
  readonly test: string;
}

describe('HumanEval-X, JavaScript', () => {
  const rows = existsSync(dataset)
    ? gunzipSync(readFileSync(dataset))
        .toString('utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row)
    : [];
  const entryPoint = ({ declaration }: Row): string =>
    /(?:const|function)\s+(\w+)/.exec(declaration.trim().split('\n').at(-1) as string)?.[1] as string;
  const judgeRow = (row: Row, completion: string): Promise<TestsEvidence> =>
    judge(row.test, completion, { id: row.task_id, prompt: row.prompt, entryPoint: entryPoint(row) });

  test('every canonical solution passes, and no empty one', async (context) => {
    if (rows.length === 0) context.skip(`${dataset} is not here`);
    const right = await Promise.all(rows.map((row) => judgeRow(row, row.canonical_solution)));
    const failing = rows.filter((_, i) => right[i]?.verdict !== 'accepted').map((row) => row.task_id);
    // Its solution needs the package js-md5, which no sandboxed program can load.
    expect(failing).toEqual(['JavaScript/162'].filter((id) => rows.some((row) => row.task_id === id)));
    const wrong = await Promise.all(rows.map((row) => judgeRow(row, '  return undefined;\n}\n')));
    expect(new Set(wrong.map((evidence) => evidence.verdict))).toEqual(new Set(['wrong_answer']));
  });
});
