import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Verdict } from '../core/evidence.js';
import type { Verifier } from '../core/verifier.js';
import { taskOf, testsOf } from './fixtures.js';
import { createVerifier } from './verifier.js';

// Every known cheat is a test: none is accepted, none becomes a fault of ours, and the next program is judged fairly.

const SUM = taskOf([
  { args: [[1, 2, 3]], expected: 6 },
  { args: [[]], expected: 0 },
  { args: [[-4, 1]], expected: -3 },
]);
const SUM_ASSERTS = taskOf({
  kind: 'asserts',
  source:
    'console.assert(solve([1, 2, 3]) === 6); console.assert(solve([]) === 0); assert.deepEqual(solve([-4, 1]), -3);',
});
const CORRECT = 'function solve(xs) { return xs.reduce((a, b) => a + b, 0); }';

/** Wrong for most inputs: what the forgeries below try to get accepted. */
const WRONG = 'function solve(xs) { return 12345; }';

type Attack = readonly [name: string, verdict: Verdict, source: string];

const FORGERIES: readonly Attack[] = [
  ['patched JSON', 'wrong_answer', `JSON.stringify = () => '6'; JSON.parse = () => [6]; ${WRONG}`],
  ['toJSON on Object.prototype', 'wrong_answer', `Object.prototype.toJSON = () => 6; ${WRONG.replace('12345', '{}')}`],
  ['toJSON on Array.prototype', 'wrong_answer', `Array.prototype.toJSON = () => 6; ${WRONG.replace('12345', '[]')}`],
  ['toJSON on Number.prototype', 'wrong_answer', `Number.prototype.toJSON = () => 6; ${WRONG}`],
  ['toJSON of its own', 'wrong_answer', 'const solve = () => ({ toJSON: () => 6 });'],
  [
    'an object equal to anything',
    'wrong_answer',
    'const solve = () => ({ valueOf: () => 6, toString: () => "6", [Symbol.toPrimitive]: () => 6 });',
  ],
  ['a boxed number', 'wrong_answer', 'const solve = (xs) => new Number(xs.reduce((a, b) => a + b, 0));'],
  ['the right number as text', 'wrong_answer', 'const solve = (xs) => String(xs.reduce((a, b) => a + b, 0));'],
  ['a wire tag in a string', 'wrong_answer', String.raw`const solve = () => '\u0001NaN';`],
  [
    'a proxy that answers everything',
    'wrong_answer',
    'const solve = () => new Proxy({}, { get: () => 6, has: () => true, ownKeys: () => [], getPrototypeOf: () => Number.prototype });',
  ],
  [
    'a proxy with hostile traps',
    'runtime_error',
    'const solve = () => new Proxy([], { get() { throw new Error("trap"); } });',
  ],
  [
    'a revoked proxy',
    'runtime_error',
    'const solve = () => { const p = Proxy.revocable({}, {}); p.revoke(); return p.proxy; };',
  ],
  [
    'a proxy array of endless length',
    'output_limit',
    'const solve = () => new Proxy([], { get: (t, k) => (k === "length" ? 2 ** 32 - 1 : 6) });',
  ],
  ['a thenable', 'wrong_answer', 'const solve = () => ({ then(resolve) { resolve(6); } });'],
  [
    'a thrown object with getters',
    'runtime_error',
    'function solve() { throw { get name() { return {}; }, get message() { throw 1; }, get stack() { throw 2; } }; }',
  ],
  [
    'a thrown proxy',
    'runtime_error',
    'function solve() { throw new Proxy({}, { get() { throw new Error("again"); }, getPrototypeOf() { throw 1; } }); }',
  ],
  [
    'a thrown verdict',
    'runtime_error',
    'function solve() { throw { kind: "returned", verdict: "accepted", value: 6 }; }',
  ],
  ['a thrown null', 'runtime_error', 'function solve() { throw null; }'],
  ['a thrown symbol', 'runtime_error', 'function solve() { throw Symbol("accepted"); }'],
  ['console.assert replaced', 'wrong_answer', `console.assert = () => {}; globalThis.assert = () => {}; ${WRONG}`],
  ['console replaced', 'wrong_answer', `globalThis.console = new Proxy({}, { get: () => () => true }); ${WRONG}`],
  [
    'poisoned globalThis',
    'wrong_answer',
    `for (const name of Object.getOwnPropertyNames(globalThis)) { try { globalThis[name] = () => 6; } catch {} } ${WRONG}`,
  ],
  [
    'poisoned Reflect.apply and Function.prototype',
    'wrong_answer',
    `Reflect.apply = () => 6; Function.prototype.call = () => 6; Function.prototype.apply = () => 6; ${WRONG}`,
  ],
  [
    'poisoned Object',
    'wrong_answer',
    `Object.keys = () => []; Object.getPrototypeOf = () => null; Array.isArray = () => true; ${WRONG}`,
  ],
  [
    'poisoned strings',
    'wrong_answer',
    `String.prototype.slice = () => '6'; String.prototype.indexOf = () => 0; globalThis.String = () => '6'; ${WRONG}`,
  ],
  [
    'setters that catch incoming data',
    'wrong_answer',
    `let seen; for (const k of ['0', 'args', 'expected', 'value', 'cases']) { Object.defineProperty(Object.prototype, k, { __proto__: null, set(v) { seen = v; }, get() { return seen; }, configurable: true }); } ${WRONG.replace('12345', 'seen')}`,
  ],
  [
    'array index setters',
    'wrong_answer',
    `let seen = []; for (let i = 0; i < 9; i++) Object.defineProperty(Array.prototype, i, { set(v) { seen.push(v); }, get() { return 6; }, configurable: true }); ${WRONG.replace('12345', 'seen.length')}`,
  ],
  [
    'Symbol.species',
    'wrong_answer',
    `Object.defineProperty(Array, Symbol.species, { get() { return class { constructor() { return [6]; } }; } }); ${WRONG}`,
  ],
  ['Symbol.iterator', 'wrong_answer', `Array.prototype[Symbol.iterator] = function* () { yield 6; }; ${WRONG}`],
  [
    'reading globals for the tests',
    'wrong_answer',
    'function solve() { return JSON.stringify(Object.getOwnPropertyNames(globalThis)).match(/expected|hidden|cases/) ? 6 : 1; }',
  ],
  ['reading the caller', 'runtime_error', 'function solve() { return solve.caller.arguments[0].expected; }'],
  ['reading the stack for file names', 'wrong_answer', 'function solve() { return new Error().stack; }'],
  [
    'Error.prepareStackTrace',
    'wrong_answer',
    'Error.prepareStackTrace = (e, frames) => frames; function solve() { const s = new Error().stack; return Array.isArray(s) ? s.map((f) => f.getFunction()) : s; }',
  ],
  [
    'patched promises',
    'wrong_answer',
    'Promise.prototype.then = function () { return 6; }; Promise.resolve = () => 6; async function solve() { return 1; }',
  ],
  ['a promise that never settles', 'runtime_error', 'const solve = () => new Promise(() => {});'],
  ['a rejected promise', 'runtime_error', 'const solve = async () => { throw 6; };'],
  ['counting calls', 'wrong_answer', 'let calls = 0; function solve() { return [6, 0, 99][calls++]; }'],
  [
    'mutated arguments',
    'wrong_answer',
    'function solve(xs) { const s = xs.reduce((a, b) => a + b, 0); xs.length = 0; xs.push(s); return xs; }',
  ],
  [
    'WeakRef and FinalizationRegistry',
    'wrong_answer',
    'const r = new FinalizationRegistry(() => { globalThis.x = 6; }); function solve() { r.register({}, 1); return new WeakRef({}).deref(); }',
  ],
  ['a generator', 'wrong_answer', 'function* solve(xs) { yield 6; }'],
  ['a class', 'runtime_error', 'class solve {}'],
  ['undefined', 'wrong_answer', 'function solve() {}'],
  ['a function', 'wrong_answer', 'const solve = () => () => 6;'],
  ['a cyclic object', 'wrong_answer', 'function solve() { const a = {}; a.a = a; return a; }'],
  ['a cyclic tree', 'time_limit', 'function solve() { const a = []; a.push(a, a); return a; }'],
  ['an array headed by a wire tag', 'wrong_answer', String.raw`const solve = () => ['\u0001map', [[1, 6]]];`],
  ['an escaped wire tag', 'wrong_answer', String.raw`const solve = () => '\u0001s\u0001NaN';`],
  ['the text of a reply', 'wrong_answer', 'const solve = () => "v6";'],
  [
    'keys of tags and prototypes',
    'wrong_answer',
    String.raw`const solve = () => JSON.parse('{"\\u0001": 6, "__proto__": {"a": 6}, "valueOf": 6}');`,
  ],
  [
    'a getter that answers differently each time',
    'wrong_answer',
    'const solve = () => { let n = 0; return { get x() { return n++ ? 6 : {}; } }; };',
  ],
  [
    'a length that grows as it is read',
    'wrong_answer',
    'const solve = () => { let n = 0; return new Proxy([6], { get: (t, k) => (k === "length" ? n++ : 6) }); };',
  ],
  [
    'a length that is an object',
    'wrong_answer',
    'const solve = () => new Proxy([], { get: (t, k) => (k === "length" ? { valueOf: () => 1 } : 6) });',
  ],
  [
    'a proxy with the same key twice',
    'runtime_error',
    'const solve = () => new Proxy({}, { ownKeys: () => ["a", "a"], getOwnPropertyDescriptor: () => ({ value: 6, enumerable: true, configurable: true }) });',
  ],
  [
    'a prototype that differs each time',
    'wrong_answer',
    'const solve = () => { let n = 0; return new Proxy({}, { getPrototypeOf: () => [Object.prototype, null, Promise.prototype][n++ % 3] }); };',
  ],
  [
    'a subclass of Array',
    'wrong_answer',
    'class A extends Array { get length() { return 6; } valueOf() { return 6; } } const solve = () => new A(1, 2, 3);',
  ],
  [
    'a subclass of Number',
    'wrong_answer',
    'class N extends Number { valueOf() { return 6; } [Symbol.toPrimitive]() { return 6; } } const solve = (xs) => new N(xs.reduce((a, b) => a + b, 0));',
  ],
  [
    'a subclass of Map',
    'wrong_answer',
    'class M extends Map { forEach(f) { f(6, 6); } get size() { return 6; } } const solve = () => new M();',
  ],
  [
    'a subclass of Promise',
    'wrong_answer',
    'class P extends Promise { then(r) { r(6); } static get [Symbol.species]() { return Number; } } const solve = () => new P((r) => r(7));',
  ],
  [
    'a promise with a then of its own',
    'wrong_answer',
    'const solve = () => { const p = Promise.resolve(7); p.then = (r) => r(6); p.constructor = function () { return 6; }; return p; };',
  ],
  ['a proxy of a promise', 'runtime_error', 'const solve = async () => new Proxy(Promise.resolve(6), {});'],
  ['an asynchronous generator', 'wrong_answer', 'async function* solve() { yield 6; }'],
  [
    'an array that shrinks under the codec',
    'wrong_answer',
    'const solve = () => { const a = [{ get x() { a.length = 1; return 6; } }, 1, 2]; return a; };',
  ],
  [
    'what microtasks do to a result',
    'wrong_answer',
    'const solve = (xs) => { Promise.resolve().then(() => { xs.length = 0; xs.push(6); }); return xs; };',
  ],
  [
    'an error that claims to be the judge’s',
    'runtime_error',
    'function solve() { const e = new Error("accepted"); e.name = "AssertionError"; throw e; }',
  ],
  [
    'an error whose message ends its JSON',
    'runtime_error',
    String.raw`function solve() { throw new Error('"]\u0000\u0001["accepted",'); }`,
  ],
  [
    'an error that is its own message',
    'runtime_error',
    'function solve() { const e = new Error("x"); e.cause = e; e.message = e; e.name = e; throw e; }',
  ],
  ['a forged interrupt', 'runtime_error', 'function solve() { throw new InternalError("interrupted"); }'],
  ['a forged memory limit', 'memory_limit', 'function solve() { throw new InternalError("out of memory"); }'],
  [
    'an entry point that replaces itself',
    'wrong_answer',
    'function solve(xs) { globalThis.solve = (ys) => ys.reduce((a, b) => a + b, 0); return solve(xs) + 1; }',
  ],
  [
    'a proxy as the entry point',
    'wrong_answer',
    'const solve = new Proxy(function () {}, { apply: (f, self, args) => args, get: () => 6 });',
  ],
  [
    'redefined undefined and globalThis',
    'wrong_answer',
    `var globalThis = { solve: () => 6 }, undefined = 6, NaN = 6; ${WRONG}`,
  ],
  [
    'prototypes cut loose',
    'wrong_answer',
    `for (const C of [Function, Array, Map, Set]) Object.setPrototypeOf(C.prototype, null); ${WRONG}`,
  ],
  [
    'patched Map and Set',
    'wrong_answer',
    `for (const C of [Map, Set, WeakMap]) for (const k of ['get', 'has', 'set', 'add', 'forEach']) C.prototype[k] = () => 6; ${WRONG}`,
  ],
];

const ESCAPES: readonly Attack[] = [
  ['import()', 'runtime_error', 'const solve = async () => (await import("node:fs")).readFileSync("/etc/passwd");'],
  ['static import', 'compile_error', 'import fs from "node:fs"; function solve() { return 6; }'],
  ['require', 'runtime_error', 'const solve = () => require("node:fs").readdirSync("/").length;'],
  ['process', 'runtime_error', 'const solve = () => process.exit(0);'],
  ['the Function constructor', 'runtime_error', 'const solve = () => Function("return process")().exit(0);'],
  [
    'constructor of a host function',
    'runtime_error',
    'const solve = () => console.log.constructor("return process")().exit(0);',
  ],
  [
    'constructor of the async function',
    'runtime_error',
    'const solve = async () => (async () => {}).constructor("return process.exit(0)")();',
  ],
  [
    'this of a sloppy function',
    'wrong_answer',
    'function solve() { return typeof this.process + typeof this.parentPort; }',
  ],
  ['QuickJS modules', 'runtime_error', 'const solve = () => std.exit(0) + os.exec(["id"]);'],
  ['WebAssembly', 'runtime_error', 'const solve = () => new WebAssembly.Module(new Uint8Array(8));'],
  [
    'Atomics.wait',
    'runtime_error',
    'const solve = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
  ],
  [
    'SharedArrayBuffer',
    'wrong_answer',
    'const solve = () => { try { return new SharedArrayBuffer(1 << 16).byteLength; } catch { return -1; } };',
  ],
  ['fetch', 'runtime_error', 'const solve = async () => (await fetch("http://127.0.0.1/")).status;'],
  [
    'exhausting the prelude',
    'runtime_error',
    'const solve = () => module.constructor.constructor("return globalThis.process.env")();',
  ],
  ['Intl', 'runtime_error', 'const solve = () => new Intl.NumberFormat("en").format(6);'],
  [
    'Atomics.waitAsync',
    'runtime_error',
    'const solve = async () => Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(8)), 0, 0).value;',
  ],
  [
    'a Function constructor of a Function constructor',
    'wrong_answer',
    `(() => {}).constructor.constructor('this.process ??= this; Object.defineProperty(Object.prototype, "v", { get: () => 6 })')(); ${WRONG}`,
  ],
  [
    'every global deleted',
    'runtime_error',
    'for (const k of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[k]; } catch {} } globalThis.solve = () => 12345;',
  ],
];

const BOMBS: readonly Attack[] = [
  ['an endless loop', 'time_limit', 'function solve() { for (;;); }'],
  ['an endless loop on load', 'time_limit', 'for (;;); function solve() {}'],
  ['an endless loop in finally', 'time_limit', 'function solve() { try { for (;;); } finally { for (;;); } }'],
  ['an endless loop that catches', 'time_limit', 'function solve() { for (;;) { try { for (;;); } catch {} } }'],
  ['an endless loop in a getter of the result', 'time_limit', 'const solve = () => ({ get a() { for (;;); } });'],
  ['an endless loop in a thrown message', 'time_limit', 'function solve() { throw { get message() { for (;;); } }; }'],
  ['a regular expression that backtracks', 'time_limit', 'const solve = () => /^(a+)+$/.test("a".repeat(40) + "b");'],
  [
    'endless microtasks',
    'time_limit',
    'const solve = () => { const again = () => Promise.resolve().then(again); again(); return 6; };',
  ],
  [
    'endless native microtasks',
    'time_limit',
    'const solve = () => { const p = { then(r) { r(p); } }; return Promise.resolve(p); };',
  ],
  [
    'an endless generator',
    'time_limit',
    'function* g() { for (;;) yield 1; } const solve = () => { let s = 0; for (const x of g()) s += x; return s; };',
  ],
  ['an endless sort', 'time_limit', 'const solve = () => { for (;;) [3, 1, 2].sort(() => 1); };'],
  ['deep recursion', 'runtime_error', 'const solve = (xs) => solve(xs) + 1;'],
  [
    'mutual recursion through natives',
    'runtime_error',
    'const solve = (xs) => [1].map(() => solve(xs))[0] + [1].reduce(() => solve(xs), 0);',
  ],
  [
    'recursion through proxies',
    'runtime_error',
    'const solve = () => { let p = {}; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); return p.x + 1n; };',
  ],
  ['deep JSON', 'runtime_error', 'const solve = () => JSON.parse("[".repeat(1e5) + "]".repeat(1e5));'],
  ['deep source in eval', 'runtime_error', 'const solve = () => eval("(".repeat(1e5) + "1" + ")".repeat(1e5));'],
  [
    'a deep result',
    'wrong_answer',
    'const solve = () => { let o = []; for (let i = 0; i < 1e4; i++) o = [o]; return o; };',
  ],
  ['string doubling', 'memory_limit', 'const solve = () => { let s = "ab"; for (;;) s += s; };'],
  ['string repeat', 'memory_limit', 'const solve = () => "x".repeat(2 ** 29).length;'],
  [
    'an array that grows',
    'memory_limit',
    'const solve = () => { const a = [new Array(1e5).fill(1)]; for (;;) a.push(a[0].slice()); };',
  ],
  ['typed arrays', 'memory_limit', 'const solve = () => { const a = []; for (;;) a.push(new Float64Array(1e5)); };'],
  [
    'a growing map',
    'memory_limit',
    'const solve = () => { const m = new Map(); for (let i = 0; ; i++) m.set(i, "x".repeat(1e5 + i)); };',
  ],
  [
    'generators kept alive',
    'memory_limit',
    'const solve = () => { const a = []; for (;;) { const g = (function* (x) { yield x; })(new Uint8Array(1e5)); g.next(); a.push(g); } };',
  ],
  [
    'many small objects',
    'memory_limit',
    'const solve = () => { let list = null; for (;;) list = { list, a: 1, b: [1, 2] }; };',
  ],
  ['many closures', 'memory_limit', 'const solve = () => { let f = () => 0; for (;;) { const g = f; f = () => g; } };'],
  [
    'many strings',
    'memory_limit',
    'const solve = () => { const a = []; for (let i = 0; ; i++) a.push("x".repeat(64) + i); };',
  ],
  [
    'many symbols',
    'memory_limit',
    'const solve = () => { const o = {}; for (let i = 0; ; i++) o[Symbol("x".repeat(99) + i)] = i; };',
  ],
  [
    'a caught memory bomb',
    'wrong_answer',
    'const solve = () => { const a = []; try { for (;;) a.push(new Float64Array(1e5)); } catch { return 1; } };',
  ],
  ['endless output', 'output_limit', 'const solve = () => { for (;;) console.log("x".repeat(1e4)); };'],
  ['one huge line of output', 'output_limit', 'const solve = () => { console.log("x".repeat(4e6)); return 6; };'],
  [
    'output limit caught',
    'output_limit',
    'const solve = (xs) => { try { for (;;) console.log("x".repeat(1e4)); } catch { return xs.reduce((a, b) => a + b, 0); } };',
  ],
  ['a huge string result', 'output_limit', 'const solve = () => "x".repeat(4e6);'],
  ['a huge array result', 'output_limit', 'const solve = () => new Array(3e5).fill(0);'],
  [
    'a sparse array of length 2^32',
    'output_limit',
    'const solve = () => { const a = []; a.length = 2 ** 32 - 1; return a; };',
  ],
  [
    'a huge object graph',
    'time_limit',
    'const solve = () => { let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a; };',
  ],
  ['a huge BigInt', 'runtime_error', 'const solve = () => 2n ** (2n ** 40n);'],
  ['a BigInt result', 'wrong_answer', 'const solve = () => 3n ** 100000n;'],
  ['a huge thrown message', 'runtime_error', 'const solve = () => { throw new Error("x".repeat(4e6)); };'],
  ['many captures', 'runtime_error', 'const solve = () => new RegExp("(".repeat(1e5) + ")".repeat(1e5)).test("");'],
  [
    'an endless loop in an error’s stack and name',
    'runtime_error',
    'function solve() { const e = new Error("x"); Object.defineProperty(e, "stack", { get() { for (;;); } }); Object.defineProperty(e, "name", { value: { toString() { for (;;); } } }); throw e; }',
  ],
  ['an endless then', 'time_limit', 'const solve = async () => ({ get then() { for (;;); } });'],
  ['a map that holds itself', 'time_limit', 'const solve = () => { const m = new Map(); m.set(m, m); return m; };'],
  [
    'a map that grows as it is read',
    'time_limit',
    'const solve = () => { const m = new Map([[0, { get x() { m.set(m.size, { get x() { return m.set(m.size, this), 6; } }); return 6; } }]]); return m; };',
  ],
  [
    'a buffer that shrinks to nothing',
    'wrong_answer',
    'const solve = () => { const b = new ArrayBuffer(8, { maxByteLength: 1 << 20 }); const a = new Uint8Array(b); b.resize(1 << 20); b.resize(0); return a; };',
  ],
  [
    'endless finalizers',
    'wrong_answer',
    'const solve = () => { const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1e3; i++) r.register({ a: new Uint8Array(1e4) }, i); return 12345; };',
  ],
];

const SOURCES: readonly Attack[] = [
  ['a null byte', 'compile_error', 'function solve() { return 6; } \u0000 function'],
  ['a null byte in a string', 'wrong_answer', 'function solve() { return "a\u0000b".length; }'],
  ['lone surrogates', 'wrong_answer', 'function solve() { return "\ud800" + String.fromCharCode(0xdfff); }'],
  ['Unicode names', 'wrong_answer', 'const größe = 7, 变量 = 1; function solve() { return größe + 变量; }'],
  ['right-to-left overrides', 'wrong_answer', 'function solve() { /*\u202e } return 6; \u2066*/ return 12345; }'],
  ['a very long name', 'wrong_answer', `const ${'a'.repeat(1e5)} = 7; function solve() { return ${'a'.repeat(1e5)}; }`],
  ['a megabyte of comment', 'wrong_answer', `/*${'x'.repeat(2 ** 20)}*/ function solve() { return 7; }`],
  ['many statements', 'wrong_answer', `${'var a = 1;\n'.repeat(6e4)} function solve() { return 7; }`],
  [
    'deep nesting in the source',
    'compile_error',
    `const x = ${'['.repeat(1e5)}${']'.repeat(1e5)}; function solve() { return x; }`,
  ],
  ['deep blocks in the source', 'compile_error', `${'{'.repeat(1e5)}${'}'.repeat(1e5)} function solve() { return 7; }`],
  ['an HTML comment', 'wrong_answer', '<!-- function\nfunction solve() { return 7; }\n--> end'],
  ['a source that ends its own wrapper', 'compile_error', '} } }); function solve() { return 6; } ((() => { {'],
  ['a SyntaxError of its own', 'runtime_error', 'throw new SyntaxError("accepted"); function solve() {}'],
  ['no entry point', 'runtime_error', 'function other() { return 6; }'],
  ['an entry point that is no function', 'runtime_error', 'const solve = { call: () => 6, apply: () => 6 };'],
  [
    'an entry point behind a getter',
    'time_limit',
    'Object.defineProperty(globalThis, "solve", { get() { for (;;); } });',
  ],
  ['an entry point in its dead zone', 'runtime_error', 'throw 1; const solve = () => 6;'],
  [
    'an HTML comment that hides the next line',
    'wrong_answer',
    'function solve(xs) { let s = 6\n--> return s\nreturn 12345; }',
  ],
  [
    'a line separator in a comment',
    'wrong_answer',
    'function solve(xs) { // \u2028 return 12345;\n return xs.length; }',
  ],
  [
    'a source map and a source URL',
    'wrong_answer',
    `//# sourceMappingURL=file:///etc/passwd\n//# sourceURL=tests.js\n${WRONG}`,
  ],
  ['a hashbang', 'wrong_answer', `#!/usr/bin/env node\n${WRONG}`],
  ['a byte order mark', 'wrong_answer', `\ufeff${WRONG}`],
  [
    'with',
    'wrong_answer',
    'with (new Proxy(globalThis, { has: () => true, get: (t, k) => (k === Symbol.unscopables ? undefined : () => 6) })) { var solve = () => 12345; }',
  ],
  [
    'labels',
    'wrong_answer',
    'solve: for (;;) { break solve; } var solve = function () { label: { break label; } return 12345; };',
  ],
  ['exports behind a getter', 'wrong_answer', 'var module = { exports: { get solve() { return () => 6; } } };'],
];

describe.each([
  ['calls', SUM],
  ['asserts', SUM_ASSERTS],
] as const)('judged by %s', (kind, task) => {
  let verifier: Verifier;
  let round = 0;
  beforeAll(async () => {
    verifier = await createVerifier({ workers: 1, limits: { cpuMs: 100, memoryBytes: 24 * 2 ** 20 } });
  });
  afterAll(() => verifier.close());

  describe.each([
    ['forgery', FORGERIES],
    ['escape', ESCAPES],
    ['bomb', BOMBS],
    ['source', SOURCES],
  ] as const)('%s', (_group, attacks) => {
    test.each(attacks)('%s', async (_name, verdict, source) => {
      const hostile = await testsOf(verifier, task, source);
      if (kind === 'calls') expect(hostile).toMatchObject({ verdict, total: 3 });
      // As in Node, an assertion sees the promise where a call test sees what became of it.
      else expect([verdict, 'wrong_answer']).toContain(hostile.verdict);
      expect(hostile.passed).toBeLessThan(3);
      // Made distinct each time, so that it really runs and is not remembered.
      const next = await testsOf(verifier, task, `${CORRECT} // ${round++}`);
      expect(next).toMatchObject({ verdict: 'accepted', passed: 3, total: 3, cached: false });
    });
  });

  test('state carried to the next program', async () => {
    await testsOf(
      verifier,
      task,
      `globalThis.solve = (xs) => xs.reduce((a, b) => a + b, 0); Array.prototype.sum = solve;`,
    );
    const heir = await testsOf(verifier, task, 'const first = typeof solve + typeof [].sum; const other = () => 6;');
    expect(heir).toMatchObject({ verdict: 'runtime_error', message: 'the program defines no function solve' });
    const probe = await testsOf(
      verifier,
      task,
      'function solve() { throw new Error(typeof [].sum + Object.keys(globalThis)); }',
    );
    expect(probe.message).toBe('Error: undefinedconsole,structuredClone,exports,module,solve');
  });
});

describe('what comes back in arguments', () => {
  const DATA = 'const xs = [3, 1, 2], o = { a: 1 }; solve(xs, o);';
  /** [what, test code after DATA, whether it shall pass, program] */
  const attempts: readonly (readonly [string, string, boolean, string])[] = [
    [
      'a proxy that answers everything',
      'assert.deepEqual(xs, [1, 2, 3])',
      false,
      'xs[0] = new Proxy({}, { get: () => 6, ownKeys: () => [], getPrototypeOf: () => Number.prototype });',
    ],
    [
      'an object that compares as it likes',
      'assert.ok(xs[0] < xs[1] && xs[1] < xs[2])',
      false,
      'xs.fill(0).forEach((_, i) => { xs[i] = { valueOf: () => i }; });',
    ],
    ['a thenable', '(async () => assert.equal(await xs[0], 1))()', false, 'xs[0] = { then(resolve) { resolve(1); } };'],
    [
      'a function',
      'assert.ok(typeof xs[0] !== "function" && typeof o.a !== "function")',
      true,
      'xs[0] = o.a = () => 1;',
    ],
    [
      'a prototype',
      'assert.ok(o.b === undefined && Object.getPrototypeOf(o) === Object.prototype)',
      true,
      'Object.setPrototypeOf(o, { b: 1 }); Object.defineProperty(o, "__proto__", { value: { b: 1 }, enumerable: true });',
    ],
    [
      'an accessor',
      'assert.ok("value" in Object.getOwnPropertyDescriptor(o, "a"))',
      true,
      'Object.defineProperty(o, "a", { get: () => 1 });',
    ],
    [
      'lists that look like references',
      'assert.deepStrictEqual(xs, [[0], [1, "array", []], [2]])',
      true,
      'xs.splice(0, 3, [0], [1, "array", []], [2]);',
    ],
    [
      'tags',
      String.raw`assert.deepStrictEqual(xs, ['\u0001NaN', ['\u0001map', []], '\u0001s\u0001undefined'])`,
      true,
      String.raw`xs.splice(0, 3, '\u0001NaN', ['\u0001map', []], '\u0001s\u0001undefined');`,
    ],
    [
      'cycles',
      'assert.ok(xs[0] === xs && xs[1] === o && o.a[0] === o.a)',
      true,
      'xs[0] = xs; xs[1] = o; o.a = []; o.a.push(o.a);',
    ],
    [
      'more than may cross',
      'assert.deepEqual([xs.length, o], [3, { a: 1 }])',
      true,
      'o.a = 2; xs.length = 2 ** 32 - 1;',
    ],
    [
      'what cannot be read',
      'assert.deepEqual([xs.length, o], [3, { a: 1 }])',
      true,
      'o.a = 2; xs.push(new Proxy([], { get() { throw 1; } }));',
    ],
    [
      'a later change',
      'const ys = [0]; solve(ys, {}); assert.deepEqual(xs, [3, 1, 2, 9])',
      true,
      'globalThis.kept ??= xs; if (xs === kept) xs.push(9); else kept.push(8);',
    ],
    [
      'patched collections',
      'assert.deepEqual(xs, [1, 2, 3])',
      false,
      'for (const C of [Map, Set]) for (const k of ["get", "has", "set", "add", "forEach"]) C.prototype[k] = () => 6; Array.prototype[Symbol.iterator] = function* () { yield* [1, 2, 3]; };',
    ],
    [
      'setters in the way',
      'assert.deepEqual(xs, [1, 2, 3])',
      false,
      'for (let i = 0; i < 9; i++) Object.defineProperty(Array.prototype, i, { set() {}, get() { return i + 1; } }); delete xs[0]; xs.length = 0;',
    ],
  ];
  let verifier: Verifier;
  beforeAll(async () => {
    verifier = await createVerifier({ workers: 1, limits: { cpuMs: 300 } });
  });
  afterAll(() => verifier.close());

  test.each(attempts)('%s', async (_name, check, passes, body) => {
    const task = taskOf({ kind: 'asserts', source: `${DATA} ${check}` });
    const { verdict, message } = await testsOf(verifier, task, `function solve(xs, o) { ${body} }`);
    expect({ verdict, message }).toEqual(
      passes ? { verdict: 'accepted' } : { verdict: 'wrong_answer', message: expect.any(String) },
    );
  });

  test('an endless loop in a getter', async () => {
    const task = taskOf({ kind: 'asserts', source: `${DATA} assert.ok(xs)` });
    const hostile = await testsOf(verifier, task, 'function solve(xs, o) { xs[0] = { get a() { for (;;); } }; }');
    expect(hostile).toMatchObject({ verdict: 'time_limit', message: 'CPU time limit exceeded' });
  });

  test.each([
    [
      'a zero of a polynomial that the program has emptied',
      'const z = solve(xs); console.assert(poly(xs, z) === 0)',
      'xs.fill(0); return 0;',
    ],
    ['the same in one line', 'console.assert(poly(xs, solve(xs)) === 0)', 'xs.fill(0); return 0;'],
    [
      'a sorted copy of what the program has emptied',
      'assert.deepEqual(solve(xs), [...xs].sort())',
      'xs.length = 0; return [];',
    ],
    ['the last of what the program has emptied', 'assert.equal(solve(xs), xs[xs.length - 1])', 'xs.length = 0;'],
  ])('%s', async (_name, check, body) => {
    const source = `const poly = (cs, x) => cs.reduce((sum, c, i) => sum + c * x ** i, 0); const xs = [3, 1, 2]; ${check}`;
    expect(
      await testsOf(verifier, taskOf({ kind: 'asserts', source }), `function solve(xs) { ${body} }`),
    ).toMatchObject({ verdict: 'wrong_answer', passed: 0 });
  });
});

test.each([
  ['an array round the right number', 'assert.deepEqual(solve(), 6)', 'const solve = () => [6];'],
  [
    'one member of a set over and over',
    'assert.deepEqual(solve(), new Set([[1], [2]]))',
    'const solve = () => new Set([[1], [1]]);',
  ],
  ['another boxed number', 'assert.deepEqual(solve(), Object(6))', 'const solve = () => Object(7);'],
])('%s passed assert.deepEqual', async (_name, source, program) => {
  const verifier = await createVerifier({ workers: 1 });
  try {
    const task = taskOf({ kind: 'asserts', source });
    expect(await testsOf(verifier, task, program)).toMatchObject({ verdict: 'wrong_answer', passed: 0, total: 1 });
  } finally {
    await verifier.close();
  }
});

test('a native loop that never polls ends by CPU time, and the pool goes on', async () => {
  const verifier = await createVerifier({ workers: 1, limits: { cpuMs: 1 } });
  try {
    const [hostile, next] = await Promise.all([
      testsOf(verifier, SUM, 'const solve = () => [].sort.call({ length: 2 ** 32 - 1 });'),
      testsOf(verifier, SUM, CORRECT),
    ]);
    expect(hostile).toMatchObject({ verdict: 'time_limit', passed: 0, total: 3 });
    expect(next).toMatchObject({ verdict: 'accepted' });
  } finally {
    await verifier.close();
  }
});
