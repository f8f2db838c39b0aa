import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestsEvidence } from '../core/evidence.js';
import type { Verifier } from '../core/verifier.js';
import { createSandbox } from '../sandbox/index.js';
import { floats } from './compare.js';
import { taskOf, testsOf } from './fixtures.js';
import { createVerifier, verifierOn } from './verifier.js';

let verifier: Verifier;
beforeAll(async () => {
  verifier = await createVerifier({ workers: 1, limits: { cpuMs: 100 } });
});
afterAll(() => verifier.close());

const double = taskOf(
  [1, 2, 3, 4].map((x) => ({ args: [x], expected: 2 * x })),
  { prompt: 'function solve(x) {\n' },
);

test('a right program is accepted with evidence for every test', async () => {
  expect(verifier.languages).toEqual(['javascript']);
  const [rung, tests] = await verifier.verify(double, '  return 2 * x;\n}');
  expect(rung).toEqual({ kind: 'rung', rung: 'test', passed: true });
  expect(tests).toMatchObject({ kind: 'tests', verdict: 'accepted', passed: 4, total: 4, cached: false });
  expect(tests).toMatchObject({ results: [2, 4, 6, 8].map((actual) => ({ verdict: 'accepted', actual })) });
  expect(tests).toMatchObject({
    key: expect.stringMatching(/^[0-9a-f]{64}$/),
    toolchain: expect.stringMatching(/^quickjs /),
  });
});

test.each([
  ['wrong_answer', 'test', '  return x === 3 ? 0 : 2 * x;\n}', 2, undefined],
  ['runtime_error', 'test', '  if (x > 1) throw new Error("no");\n  return 2;\n}', 1, 'Error: no'],
  ['runtime_error', 'run', '  return y;\n}', 0, "ReferenceError: 'y' is not defined"],
  ['compile_error', 'parse', '  return (;\n}', 0, "SyntaxError: unexpected token in expression: ';'"],
  ['time_limit', 'run', '  for (;;);\n}', 0, 'CPU time limit exceeded'],
  ['memory_limit', 'run', '  const a = []; for (;;) a.push(new Uint8Array(1e6));\n}', 0, 'memory limit exceeded'],
  ['output_limit', 'run', '  for (;;) console.log("x".repeat(1e5));\n}', 0, 'output limit exceeded'],
  ['no_code', 'parse', '  \n', 0, 'the completion holds no program'],
] as const)('%s at rung %s', async (verdict, rung, completion, passed, message) => {
  const [first, tests] = await verifier.verify(double, completion);
  expect(first).toEqual({ kind: 'rung', rung, passed: false });
  expect(tests).toMatchObject({ verdict, passed, total: 4 });
  expect((tests as TestsEvidence).message).toBe(message);
});

test('the evidence holds the peak of memory where a program ran', async () => {
  const [small, large] = await Promise.all(
    ['  return 2 * x; // small\n}', '  new Uint8Array(4e6);\n  return 2 * x;\n}'].map((c) =>
      testsOf(verifier, double, c),
    ),
  );
  expect(large?.peakBytes).toBeGreaterThan(4e6);
  expect(small?.peakBytes).toBeLessThan(1e6);
  expect(await testsOf(verifier, double, '')).not.toHaveProperty('peakBytes');
});

test('judging stops at the first failure, or goes on if all tests are wanted', async () => {
  const program = '  if (x === 2) throw new Error("two");\n  return x === 3 ? 0 : 2 * x;\n}';
  const some = await testsOf(verifier, double, program);
  expect(some.results.map((r) => r.verdict)).toEqual(['accepted', 'runtime_error']);
  expect(some).toMatchObject({ verdict: 'runtime_error', passed: 1, total: 4, message: 'Error: two' });

  const thorough = await createVerifier({ workers: 1, allTests: true });
  const all = await testsOf(thorough, double, program);
  await thorough.close();
  expect(all.results.map((r) => r.verdict)).toEqual(['accepted', 'runtime_error', 'wrong_answer', 'accepted']);
  expect(all).toMatchObject({ verdict: 'runtime_error', passed: 2, total: 4 });
  expect(all.key).not.toBe(some.key);
});

test('equal programs share one execution, at once and later', async () => {
  const program = '  return 2 * x; // shared\n}';
  const group = await Promise.all([1, 2, 3].map(() => testsOf(verifier, double, program)));
  expect(group.map((e) => e.cached)).toEqual([false, true, true]);
  const later = await testsOf(verifier, double, program);
  expect(later).toEqual({ ...group[0], cached: true });
  const other = await testsOf(verifier, { ...double, id: 'other', hidden: { kind: 'calls', cases: [] } }, program);
  expect(other.key).not.toBe(later.key);
});

test('the cache forgets the least recently used', async () => {
  const small = await createVerifier({ workers: 1, cacheSize: 2 });
  const seen: boolean[] = [];
  for (const i of [1, 2, 1, 3, 1, 2]) seen.push((await testsOf(small, double, `  return 2 * x; // ${i}\n}`)).cached);
  await small.close();
  expect(seen).toEqual([false, false, true, false, true, false]);
});

test('a fault of ours is told apart and never remembered', async () => {
  const cobol = { ...double, language: 'cobol' };
  const [only, ...rest] = await verifier.verify(cobol, '  return 2 * x;\n}');
  expect(rest).toEqual([]);
  expect(only).toMatchObject({
    verdict: 'infra_error',
    cached: false,
    passed: 0,
    message: expect.stringContaining('cobol'),
  });
  expect(await testsOf(verifier, cobol, '  return 2 * x;\n}')).toMatchObject({ cached: false });

  const empty = await testsOf(verifier, taskOf([]), 'const solve = 1;');
  expect(empty).toMatchObject({ verdict: 'infra_error' });
  const unnamed = await testsOf(verifier, { ...double, entryPoint: 'a b' }, '  return 2 * x;\n}');
  expect(unnamed).toMatchObject({ verdict: 'infra_error', message: expect.stringContaining('"a b" is not a name') });
});

test('a comparator of the caller’s decides call tests', async () => {
  const sandbox = await createSandbox({ workers: 1 });
  const near = verifierOn(sandbox, { comparator: floats() });
  const third = taskOf([{ args: [0.1, 0.2], expected: 0.3 }]);
  expect(await testsOf(near, third, 'const solve = (a, b) => a + b;')).toMatchObject({ verdict: 'accepted' });
  expect(await testsOf(verifier, third, 'const solve = (a, b) => a + b;')).toMatchObject({ verdict: 'wrong_answer' });
  await near.close();
});

test('a large result is judged but not kept', async () => {
  const tests = await testsOf(verifier, taskOf([{ args: [], expected: 1 }]), 'const solve = () => "x".repeat(5000);');
  expect(tests.results).toEqual([{ verdict: 'wrong_answer', message: 'the returned value is too large to keep' }]);
});
