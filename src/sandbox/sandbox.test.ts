import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Value } from '../core/value.js';
import {
  createSandbox,
  DEFAULT_LIMITS,
  detect,
  type ExecutionRequest,
  type ExecutionResult,
  encode,
  type Limits,
  notExecuted,
  type Sandbox,
  toWire,
} from './index.js';
import { openQuickJS } from './quickjs/pool.js';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox({ workers: 1 });
});
afterAll(() => sandbox.close());

const request = (
  source: string,
  calls: readonly (readonly Value[])[],
  limits: Partial<Limits> = {},
): ExecutionRequest => ({
  language: 'javascript',
  source,
  entryPoint: 'f',
  work: { kind: 'calls', calls, stopOnThrow: false },
  limits: { ...DEFAULT_LIMITS, ...limits },
});
const run = (source: string, ...calls: readonly (readonly Value[])[]): Promise<ExecutionResult> =>
  sandbox.execute(request(source, calls));
const returned = async (source: string, ...args: readonly Value[]): Promise<unknown> => {
  const { calls, failure } = await run(source, args);
  expect(failure).toBeUndefined();
  expect(calls[0]).toMatchObject({ kind: 'returned' });
  return (calls[0] as { readonly value: Value }).value;
};

test('any JSON value comes back from the identity as it went in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }) as fc.Arbitrary<Value>, { maxLength: 3 }),
      async (args) => {
        expect(await returned('const f = (...args) => args;', ...args)).toStrictEqual(toWire(args));
      },
    ),
    { numRuns: 200 },
  );
});

test('strings of any code units survive, wire tags and lone surrogates among them', async () => {
  const unit = fc.oneof(fc.constantFrom('\u0000', '\u0001', '\ud800', '\udfff', '\u2028', '"', '\\', 's'), fc.string());
  await fc.assert(
    fc.asyncProperty(
      fc.array(unit).map((units) => units.join('')),
      async (text) => {
        const lengthAndText = 'const f = (s) => [s.length, s, { [s]: [...s].length }];';
        expect(await returned(lengthAndText, text)).toStrictEqual(
          toWire([text.length, text, { [text]: [...text].length }]),
        );
      },
    ),
    { numRuns: 200 },
  );
});

test('numbers keep every bit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.double()), async (numbers) => {
      expect(await returned('const f = (xs) => xs;', numbers)).toStrictEqual(toWire(numbers));
    }),
    { numRuns: 100 },
  );
});

test('a key named __proto__ is an ordinary key', async () => {
  const evil = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}') as Value;
  expect(encode((await returned('const f = (x) => x;', evil)) as Value)).toBe(encode(evil));
  expect(await returned('const f = (x) => x.polluted ?? Object.keys(x);', evil)).toEqual(['__proto__', 'constructor']);
});

test('what JSON lacks comes out tagged', async () => {
  const source = `const f = () => [-0, NaN, -Infinity, undefined, 10n, () => 1, Symbol('x'), [, 1], new Map([[1, { a: -0 }]]),
    new Set([1, 'x']), new Date(5), new Uint8Array([1, 2]), new BigInt64Array(1), Object('s'), /x/,
    Object.create(null), new (class Point { constructor() { this.x = 1; } })(), { u: undefined }, new Error('e')];`;
  expect(JSON.stringify(await returned(source)).replaceAll('\\u0001', '@')).toMatchInlineSnapshot(
    `"["@-0","@NaN","@-Infinity","@undefined","@bigint:10","@function","@symbol",["@undefined",1],["@map",[[1,{"a":"@-0"}]]],["@set",[1,"x"]],["@date",5],["@Uint8Array",[1,2]],["@BigInt64Array",["@bigint:0"]],["@boxed","s"],{},{},{"x":1},{"u":"@undefined"},{}]"`,
  );
});

test('each call gets arguments of its own', async () => {
  const { calls } = await run('function f(xs) { xs.push(9); return xs.length; }', [[1]], [[1]], [[1]]);
  expect(calls).toEqual([2, 2, 2].map((value) => ({ kind: 'returned', value })));
});

test('programs see the same clock, zone and random numbers each time', async () => {
  const source = `const f = () => [Date.now(), new Date().toString(), new Date(2024, 6, 1).getTime(), Math.random(), Math.random()];`;
  const first = await returned(source);
  expect(await returned(source)).toEqual(first);
  expect((first as Value[]).slice(0, 3)).toEqual([1704067200000, 'Mon Jan 01 2024 00:00:00 GMT+0000', 1719792000000]);
});

test('the time limit counts what the program does, so it falls at the same place each time', async () => {
  const source = 'let n = 0; const f = () => { for (;;) { n++; if (n % 1000 === 0) console.log(n); } };';
  const limited = request(source, [[]], { cpuMs: 20 });
  const first = await sandbox.execute(limited);
  expect(first.calls).toEqual([{ kind: 'limit', limit: 'time_limit', message: 'CPU time limit exceeded' }]);
  expect((await sandbox.execute(limited)).stdout).toBe(first.stdout);
  expect(Number(first.stdout.trim().split('\n').at(-1))).toBeGreaterThan(10_000);
});

test('memory runs out at the same place each time, whatever ran before', async () => {
  const source =
    'const f = () => { const a = []; for (;;) { a.push(new Uint8Array(50000)); console.log(a.length); } };';
  const limited = request(source, [[]], { memoryBytes: 16 * 2 ** 20 });
  const first = await sandbox.execute(limited);
  expect(first.calls).toMatchObject([{ kind: 'limit', limit: 'memory_limit' }]);
  await sandbox.execute(
    request('const f = () => { let s = "ab"; for (;;) s += s; };', [[]], { memoryBytes: 16 * 2 ** 20 }),
  );
  expect((await sandbox.execute(limited)).stdout).toBe(first.stdout);
  const reached = Number(first.stdout.trim().split('\n').at(-1));
  expect(reached).toBeGreaterThan(200);
  expect(reached).toBeLessThan((22 * 2 ** 20) / 50000);
});

test('the peak of memory was never reported: it is the same each time, whatever ran before', async () => {
  const holding = (bytes: number): string =>
    `const f = () => { const a = new Uint8Array(${bytes}); return a.length; };`;
  const peak = async (source: string): Promise<number> => {
    const { peakBytes } = await run(source, []);
    return peakBytes as number;
  };
  const empty = await peak('const f = () => 1;');
  expect(empty).toBeGreaterThan(0);
  expect(empty).toBeLessThan(512 * 2 ** 10);
  for (const bytes of [30e6, 1e6, 8e6]) {
    const held = await peak(holding(bytes));
    expect(held - empty).toBeGreaterThan(bytes - 2 ** 17);
    expect(held - empty).toBeLessThan(bytes + 2 ** 17);
    expect(held % 2 ** 12).toBe(empty % 2 ** 12);
    expect(await peak(holding(bytes))).toBe(held);
  }
  // The mark stays where the program was at its highest, and does not add up what it has given back.
  const inTurn = await peak(
    'const f = () => { for (const n of [1e6, 9e6, 1e6, 8e6]) new Uint8Array(n).fill(1); return 1; };',
  );
  expect(inTurn - empty).toBeGreaterThan(9e6 - 2 ** 17);
  expect(inTurn - empty).toBeLessThan(18e6);
  expect(await peak('const f = () => 1;')).toBe(empty);
  const bomb = await run('const f = () => { const a = []; for (;;) a.push(new Uint8Array(1e5)); };', []);
  expect(bomb.calls).toMatchObject([{ kind: 'limit', limit: 'memory_limit' }]);
  expect(bomb.peakBytes).toBeGreaterThan(DEFAULT_LIMITS.memoryBytes - 2 ** 18);
  expect(bomb.peakBytes).toBeLessThan(DEFAULT_LIMITS.memoryBytes + 2 ** 20);
});

test.each([8, 64, 1024, 65536])('a heap filled to the last %d bytes crashed the interpreter', async (least) => {
  const source = `const k = []; let n = 2 ** 24;
    while (n > ${least}) { try { k.push(new ArrayBuffer(n)); } catch (e) { n >>= 1; } }
    const f = (x) => x.sort((a, b) => a - b);`;
  const large = Array.from({ length: 100_000 }, (_, i) => i);
  const { failure, calls } = await run(source, [[2, 1]], [large]);
  const last = failure?.verdict ?? calls.map((call) => (call.kind === 'limit' ? call.limit : call.kind)).at(-1);
  expect(last).toBe('memory_limit');
  expect(await returned('const f = (x) => x;', 1)).toBe(1);
});

test('a text that did not fit into the heap was written over the interpreter, and small heaps killed the worker', async () => {
  const small = { memoryBytes: 4 * 2 ** 20 };
  const long = await sandbox.execute(request(`//${'€'.repeat(4e6)}\nconst f = () => 1;`, [[]], small));
  expect(long.failure).toEqual({ verdict: 'memory_limit', message: 'memory limit exceeded' });
  const argument = await sandbox.execute(request('const f = (s) => s.length;', [['x'.repeat(12e6)]], small));
  expect(argument.calls).toMatchObject([{ kind: 'limit', limit: 'memory_limit' }]);
});

test('a program of more than 4 MiB is refused before it is handed over', async () => {
  expect(await run(`//${'x'.repeat(2 ** 22)}\nconst f = () => 1;`, [])).toMatchObject({
    failure: { verdict: 'memory_limit', message: 'the program has 4194325 characters, more than 4194304' },
    calls: [],
  });
});

test('promises are awaited, rejections are throws', async () => {
  expect(await returned('async function f(x) { await null; return [await x, 2]; }', 1)).toEqual([1, 2]);
  const { calls } = await run(
    'const f = async (x) => { if (x) throw new RangeError("no"); return 1; };',
    [true],
    [false],
  );
  expect(calls).toEqual([
    { kind: 'threw', message: 'RangeError: no' },
    { kind: 'returned', value: 1 },
  ]);
});

test('the entry point may be declared, exported or nested', async () => {
  for (const source of [
    'function f() { return 7; }',
    'var f = () => 7;',
    'const f = async () => 7;',
    'module.exports = { f: () => 7 };',
    'exports.f = () => 7;',
    'module.exports = () => 7;',
  ]) {
    expect(await returned(source)).toBe(7);
  }
  const nested = { ...request('class Solution { static f() { return 7; } }', [[]]), entryPoint: 'Solution.f' };
  expect((await sandbox.execute(nested)).calls).toEqual([{ kind: 'returned', value: 7 }]);
});

test('printed text is kept up to its limit', async () => {
  const { stdout } = await run(
    'const f = () => { console.log("a", 1, [NaN, "\u0000"], { b: null }); console.error("e"); };',
    [],
  );
  expect(stdout).toBe('a 1 ["\\u0001NaN","\\u0000"] {"b":null}\ne\n');
  const limited = await sandbox.execute(
    request('const f = () => { for (;;) console.log("x"); };', [[]], { outputBytes: 5 }),
  );
  expect(limited).toMatchObject({ stdout: 'x\nx\nx', calls: [{ kind: 'limit', limit: 'output_limit' }] });
});

test('a language that nothing here can run is our fault, not the program’s', async () => {
  expect(await sandbox.execute({ ...request('', []), language: 'cobol' })).toEqual(
    notExecuted({
      verdict: 'infra_error',
      code: 'toolchain_missing',
      message: 'nothing here can run cobol programs',
      hint: 'this version runs javascript',
    }),
  );
});

test('detect says what can run here', async () => {
  const [javascript] = await detect();
  expect(javascript).toMatchObject({ language: 'javascript', available: true });
  expect(javascript?.version).toMatch(/^quickjs \d{4}-\d\d-\d\d \(quickjs-emscripten \d+\.\d+\.\d+\)$/);
});

test('many programs at once each get their own answer', async () => {
  const pool = await createSandbox({ workers: 2 });
  try {
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) => pool.execute(request(`const f = (x) => x + ${i};`, [[1000]]))),
    );
    expect(results.map((result) => result.calls)).toEqual(
      results.map((_, i) => [{ kind: 'returned', value: 1000 + i }]),
    );
  } finally {
    await pool.close();
  }
});

test('workers that cannot live give infra_error for their programs, and nothing hangs', async () => {
  // One MiB of JavaScript heap is less than a worker needs to start.
  const backend = await openQuickJS({ workers: 1, heapMb: 1 });
  try {
    const results = await Promise.all([1, 2].map((i) => backend.execute(request(`const f = () => ${i};`, [[]]))));
    for (const { failure } of results) expect(failure).toMatchObject({ verdict: 'infra_error', code: 'worker_died' });
  } finally {
    await backend.close();
  }
});

test('closing answers what is still waiting', async () => {
  const pool = await createSandbox({ workers: 1 });
  const running = [1, 2, 3].map(() => pool.execute(request('const f = () => { for (;;); };', [[]], { cpuMs: 60_000 })));
  await pool.close();
  for (const result of await Promise.all(running)) expect(result.failure).toMatchObject({ code: 'closed' });
  expect((await pool.execute(request('', []))).failure).toMatchObject({ verdict: 'infra_error', code: 'closed' });
});
