import { DEFAULT_LIMITS } from '../limits.js';
import { MAX_DEPTH } from '../wire.js';

/** Values in one result, containers included. */
const MAX_NODES = 200_000;

/**
 * Code that runs inside the interpreter before any untrusted code. It keeps every intrinsic that it uses in closure
 * variables, so that nothing a program patches later can change what crosses; and it never looks up a property on an
 * object of its own that could reach a prototype. It is still only a codec: a program that lies about its own result
 * gains nothing, as the expected one is elsewhere.
 *
 * The script's value is a function (write) → object of functions; texts are those of `wire.ts`:
 * - `run(entry, text)`: applies `entry` to the decoded arguments; the result as text, or the raw object where it may
 *   be a promise, which only the host can tell for certain.
 * - `encode(value)`: `v` + text, or `!` where the value is larger than allowed.
 * - `decode(text)`, `describe(error)` → JSON `[name, message]`; `configure(maxChars)` sets the size of output and results.
 */
export const CODEC = String.raw`(function (write) {
  'use strict';
  const { stringify: quote, parse } = JSON;
  const { isArray } = Array;
  const { keys, getPrototypeOf, prototype: objectPrototype } = Object;
  const { prototype: arrayPrototype } = Array;
  const { apply } = Reflect;
  const { indexOf, slice } = String.prototype;
  const text = String, ObjectOf = Object, MapOf = Map, SetOf = Set, DateOf = Date, big = BigInt, TypeErrorOf = TypeError;
  const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
  const mapForEach = Map.prototype.forEach, mapSet = Map.prototype.set;
  const setForEach = Set.prototype.forEach, setAdd = Set.prototype.add;
  const getTime = Date.prototype.getTime;
  const typedPrototype = getPrototypeOf(Int8Array.prototype);
  const typedName = getter(typedPrototype, Symbol.toStringTag), typedLength = getter(typedPrototype, 'length');
  const numberValue = Number.prototype.valueOf, stringValue = String.prototype.valueOf;
  const booleanValue = Boolean.prototype.valueOf;
  const bigLimit = 1n << 4096n;
  const typed = { __proto__: null };
  for (const C of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array, Float32Array, Float64Array]) typed[C.name] = C;
  const TAG = '\u0001', AFTER = '\u0002', LIMIT = { __proto__: null };
  let nodes = 0, chars = 0, maxChars = ${DEFAULT_LIMITS.outputBytes};

  const string = (s) => {
    if ((chars -= s.length) < 0) throw LIMIT;
    return quote(s >= TAG && s < AFTER ? '\u0001s' + s : s);
  };
  const list = (items, length, depth) => {
    if (length > nodes) throw LIMIT;
    let out = '[';
    for (let i = 0; i < length; i++) out += (i === 0 ? '' : ',') + value(items[i], depth);
    return out + ']';
  };
  const fields = (object, depth) => {
    const names = keys(object), length = names.length;
    if (length > nodes) throw LIMIT;
    let out = '{';
    for (let i = 0; i < length; i++) {
      const name = names[i];
      if ((chars -= name.length) < 0) throw LIMIT;
      out += (i === 0 ? '' : ',') + quote(name) + ':' + value(object[name], depth);
    }
    return out + '}';
  };
  const brand = (method, object) => {
    try { return [apply(method, object, [])]; } catch { return null; }
  };
  const exotic = (object, depth) => {
    const name = apply(typedName, object, []);
    if (name !== undefined) return '["\\u0001' + name + '",' + list(object, apply(typedLength, object, []), depth) + ']';
    let out = '', ok = true;
    try {
      apply(mapForEach, object, [(item, key) => {
        if (ok !== true) return;
        try { out += (out === '' ? '' : ',') + '[' + value(key, depth) + ',' + value(item, depth) + ']'; } catch (e) { ok = e; }
      }]);
      if (ok !== true) throw ok;
      return '["\\u0001map",[' + out + ']]';
    } catch (e) { if (ok !== true) throw ok; }
    try {
      apply(setForEach, object, [(item) => {
        if (ok !== true) return;
        try { out += (out === '' ? '' : ',') + value(item, depth); } catch (e) { ok = e; }
      }]);
      if (ok !== true) throw ok;
      return '["\\u0001set",[' + out + ']]';
    } catch (e) { if (ok !== true) throw ok; }
    const time = brand(getTime, object);
    if (time !== null) return '["\\u0001date",' + value(time[0], depth) + ']';
    const boxed = brand(numberValue, object) || brand(stringValue, object) || brand(booleanValue, object);
    if (boxed !== null) return '["\\u0001boxed",' + value(boxed[0], depth) + ']';
    return fields(object, depth);
  };
  const value = (v, depth) => {
    if (--nodes < 0) throw LIMIT;
    switch (typeof v) {
      case 'string': return string(v);
      case 'number':
        if (v === 0) return 1 / v < 0 ? '"\\u0001-0"' : '0';
        return v - v === 0 ? '' + v : '"\\u0001' + v + '"';
      case 'boolean': return v ? 'true' : 'false';
      case 'undefined': return '"\\u0001undefined"';
      case 'bigint': return v < bigLimit && v > -bigLimit ? '"\\u0001bigint:' + v + '"' : '"\\u0001opaque"';
      case 'symbol': return '"\\u0001symbol"';
      case 'function': return '"\\u0001function"';
    }
    if (v === null) return 'null';
    if (depth >= ${MAX_DEPTH}) return '"\\u0001deep"';
    if (isArray(v)) {
      const length = v.length;
      return typeof length === 'number' && length >= 0 ? list(v, length, depth + 1) : '"\\u0001opaque"';
    }
    const prototype = getPrototypeOf(v);
    return prototype === objectPrototype || prototype === null ? fields(v, depth + 1) : exotic(v, depth + 1);
  };
  const encode = (v) => {
    nodes = ${MAX_NODES};
    chars = maxChars;
    try {
      const out = value(v, 0);
      return out.length > 2 * maxChars + 16 ? '!' : 'v' + out;
    } catch (e) {
      if (e === LIMIT) return '!';
      throw e;
    }
  };

  const revive = (v) => {
    if (typeof v === 'string') {
      if (!(v >= TAG && v < AFTER)) return v;
      const name = apply(slice, v, [1]);
      if (name[0] === 's' && name[1] === TAG) return apply(slice, v, [2]);
      if (name === 'NaN') return NaN;
      if (name === 'Infinity') return Infinity;
      if (name === '-Infinity') return -Infinity;
      if (name === '-0') return -0;
      if (name === 'undefined') return undefined;
      if (apply(slice, name, [0, 7]) === 'bigint:') return big(apply(slice, name, [7]));
      return { __proto__: null, opaque: name };
    }
    if (typeof v !== 'object' || v === null) return v;
    if (!isArray(v)) {
      const names = keys(v);
      for (let i = 0; i < names.length; i++) v[names[i]] = revive(v[names[i]]);
      return v;
    }
    const head = v.length === 2 ? v[0] : undefined;
    if (typeof head === 'string' && head >= TAG && head < AFTER && !(head[1] === 's' && head[2] === TAG)) {
      const name = apply(slice, head, [1]), items = v[1];
      if (name === 'date') return new DateOf(revive(items));
      if (name === 'boxed') return ObjectOf(revive(items));
      if (isArray(items)) {
        for (let i = 0; i < items.length; i++) items[i] = revive(items[i]);
        if (name === 'map') {
          const map = new MapOf();
          for (let i = 0; i < items.length; i++) apply(mapSet, map, [items[i][0], items[i][1]]);
          return map;
        }
        if (name === 'set') {
          const set = new SetOf();
          for (let i = 0; i < items.length; i++) apply(setAdd, set, [items[i]]);
          return set;
        }
        if (typed[name] !== undefined) {
          const array = new typed[name](items.length);
          for (let i = 0; i < items.length; i++) array[i] = items[i];
          return array;
        }
      }
    }
    for (let i = 0; i < v.length; i++) v[i] = revive(v[i]);
    return v;
  };
  const decode = (source) => {
    const parsed = parse(source);
    return apply(indexOf, source, ['\\u0001']) < 0 ? parsed : revive(parsed);
  };

  // Room to say what went wrong when the heap is full.
  let reserve = new ArrayBuffer(65536);
  const clip = (s) => (s.length > 500 ? apply(slice, s, [0, 500]) + '…' : s);
  const describe = (error) => {
    reserve = null;
    let name = 'Error', message = '';
    try {
      if (typeof error === 'object' && error !== null) {
        const n = error.name, m = error.message;
        if (typeof n === 'string') name = n;
        message = typeof m === 'string' ? m : 'an object that is no error';
      } else {
        name = 'thrown';
        message = typeof error === 'bigint' ? 'a bigint' : typeof error === 'function' ? 'a function' : text(error);
      }
    } catch {
      message = 'an object that cannot be described';
    }
    return '[' + quote(clip(name)) + ',' + quote(clip(message)) + ']';
  };

  const run = (entry, source) => {
    const result = apply(entry, undefined, decode(source));
    if (typeof result === 'object' && result !== null && !isArray(result)) {
      const prototype = getPrototypeOf(result);
      if (prototype !== objectPrototype && prototype !== null) return result;
    }
    return encode(result);
  };

  const show = (v) => {
    if (typeof v === 'string') return v;
    const out = encode(v);
    return out === '!' ? '[large]' : apply(slice, out, [1]);
  };
  const print = (...args) => {
    let line = '';
    for (let i = 0; i < args.length; i++) {
      line += (i === 0 ? '' : ' ') + show(args[i]);
      if (line.length > maxChars) line = apply(slice, line, [0, maxChars + 1]);
    }
    write(quote(line + '\n'));
  };
  const ignore = () => {};
  globalThis.console = {
    log: print, info: print, warn: print, error: print, debug: print, trace: print, table: print, dir: print,
    assert: ignore, group: ignore, groupEnd: ignore, time: ignore, timeEnd: ignore, count: ignore,
  };
  globalThis.structuredClone = (v) => {
    const out = encode(v);
    if (out === '!') throw new TypeErrorOf('value too large to clone');
    return decode(apply(slice, out, [1]));
  };
  globalThis.exports = {};
  globalThis.module = { exports: globalThis.exports };
  const configure = (n) => { maxChars = n; };
  return { run, encode, decode, describe, configure };
})`;

/**
 * The judge's half, run after `CODEC` in an interpreter that holds no untrusted code. The script's value is a function
 * (codec, call, record) that defines `console.assert`, `assert` and `require('assert')`. It returns
 * - `install(name)`: defines the entry point as a call into the program's interpreter;
 * - `blame(error)`: where an error came from: `program`, `assertion`, `tests`, `syntax` or `other`.
 *
 * `call(text)` → `v` + text | `p` + text (a promise's value) | `e` + JSON [name, message] | `r` + the same (rejection).
 */
export const JUDGE = `(function (codec, call, record) {
  'use strict';
  const fromProgram = new WeakSet();
  const classes = { Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };
  const rebuild = (text) => {
    const [name, message] = JSON.parse(text);
    const error = new (Object.hasOwn(classes, name) ? classes[name] : Error)(message);
    if (error.name !== name) error.name = name;
    fromProgram.add(error);
    return error;
  };
  const entry = (...args) => {
    const out = codec.encode(args);
    if (out === '!') throw new TypeError('arguments too large');
    const reply = call(out.slice(1)), rest = reply.slice(1);
    switch (reply[0]) {
      case 'v': return codec.decode(rest);
      case 'p': return Promise.resolve(codec.decode(rest));
      case 'r': return Promise.reject(rebuild(rest));
      default: throw rebuild(rest);
    }
  };
  const install = (entryName) => {
    const path = entryName.split('.'), last = path.pop();
    let holder = globalThis;
    for (const name of path) holder = holder[name] ??= {};
    holder[last] = entry;
  };

  class AssertionError extends Error {}
  Object.defineProperty(AssertionError.prototype, 'name', { value: 'AssertionError' });
  const show = (v) => {
    const out = codec.encode(v);
    return out.length > 200 ? out.slice(1, 200) + '…' : out.slice(1);
  };
  const check = (passed, message, detail) => {
    if (passed) return record(true, '""');
    const text = message instanceof Error ? message.message : message === undefined ? detail() : String(message);
    record(false, JSON.stringify(text.slice(0, 500)));
    throw message instanceof Error ? message : new AssertionError(text);
  };
  const kind = (v) => Object.prototype.toString.call(v);
  const simple = (v) => typeof v !== 'object' || v === null;
  // Each of the items has a partner of its own in the rest.
  const paired = (items, rest, equal) => items.every((item) => {
    const at = rest.findIndex((other) => equal(item, other));
    return at >= 0 && rest.splice(at, 1).length === 1;
  });
  const same = (a, b, strict) => {
    if (strict ? Object.is(a, b) : a === b) return true;
    if (simple(a) || simple(b)) return !strict && simple(a) && simple(b) && (a == b || (a !== a && b !== b));
    if (kind(a) !== kind(b) || Array.isArray(a) !== Array.isArray(b)) return false;
    if (a instanceof Date || a instanceof Number || a instanceof Boolean || a instanceof String) {
      return Object.is(a.valueOf(), b.valueOf());
    }
    if (a instanceof Map) {
      const easy = (key) => simple(key) && a.has(key) && b.has(key);
      if (a.size !== b.size) return false;
      for (const [key, item] of a) if (easy(key) && !same(item, b.get(key), strict)) return false;
      return paired([...a].filter(([key]) => !easy(key)), [...b].filter(([key]) => !easy(key)),
        (x, y) => same(x[0], y[0], strict) && same(x[1], y[1], strict));
    }
    if (a instanceof Set) {
      if (a.size !== b.size) return false;
      return paired([...a].filter((item) => !b.has(item)), [...b].filter((item) => !a.has(item)),
        (x, y) => same(x, y, strict));
    }
    const names = Object.keys(a);
    if (names.length !== Object.keys(b).length || a.length !== b.length) return false;
    return names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name], strict));
  };
  const compared = (word, a, b) => () => show(a) + ' ' + word + ' ' + show(b);
  const assert = (passed, message) => check(!!passed, message, () => 'not true: ' + show(passed));
  const throwing = (f) => {
    try { f(); } catch (error) { return { error }; }
    return null;
  };
  Object.assign(assert, {
    AssertionError,
    ok: assert,
    fail: (message) => check(false, message, () => 'failed'),
    equal: (a, b, m) => check(a == b || (a !== a && b !== b), m, compared('!=', a, b)),
    notEqual: (a, b, m) => check(a != b, m, compared('==', a, b)),
    strictEqual: (a, b, m) => check(Object.is(a, b), m, compared('!==', a, b)),
    notStrictEqual: (a, b, m) => check(!Object.is(a, b), m, compared('===', a, b)),
    deepEqual: (a, b, m) => check(same(a, b, false), m, compared('differs from', a, b)),
    notDeepEqual: (a, b, m) => check(!same(a, b, false), m, compared('equals', a, b)),
    deepStrictEqual: (a, b, m) => check(same(a, b, true), m, compared('differs from', a, b)),
    notDeepStrictEqual: (a, b, m) => check(!same(a, b, true), m, compared('equals', a, b)),
    throws: (f, expected, message) => {
      const thrown = throwing(f);
      if (thrown === null || typeof expected === 'string' || expected === undefined) {
        return check(thrown !== null, typeof expected === 'string' ? expected : message, () => 'nothing was thrown');
      }
      const { error } = thrown;
      const fits = expected instanceof RegExp ? expected.test(String(error))
        : typeof expected === 'object' ? Object.keys(expected).every((k) => expected[k] instanceof RegExp
          ? expected[k].test(error[k]) : same(error[k], expected[k], true))
        : expected.prototype !== undefined && error instanceof expected ? true
        : expected === Error || Error.isPrototypeOf(expected) ? false : expected(error) === true;
      check(fits, message, () => 'threw something else: ' + error);
    },
    doesNotThrow: (f, message) => {
      const thrown = throwing(f);
      check(thrown === null, message, () => 'threw ' + thrown.error);
    },
  });
  const strict = Object.assign((...args) => assert(...args), assert, {
    equal: assert.strictEqual, notEqual: assert.notStrictEqual,
    deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
  });
  assert.strict = strict.strict = strict;
  console.assert = (passed, message) => {
    record(!!passed, JSON.stringify(passed ? '' : message === undefined ? 'console.assert failed' : String(message).slice(0, 500)));
  };
  globalThis.assert = assert;
  globalThis.require = (name) => {
    if (name === 'assert' || name === 'node:assert') return assert;
    if (name === 'assert/strict' || name === 'node:assert/strict') return strict;
    throw new ReferenceError("test code cannot require '" + name + "'");
  };
  return {
    install,
    blame: (error) => (typeof error === 'object' && error !== null && fromProgram.has(error) ? 'program'
      : error instanceof AssertionError ? 'assertion'
      : error instanceof SyntaxError ? 'syntax' : error instanceof ReferenceError ? 'tests' : 'other'),
  };
})`;
