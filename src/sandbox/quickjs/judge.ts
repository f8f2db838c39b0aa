/** Global function of the judge that asynchronous functions of test code hand their errors to (`hookAsyncErrors`). */
export const JUDGE_HOOK = '$lostError';
/** Global function of the judge that gets the conditions of `if (…) throw` (`countThrows`) and returns them. */
export const GUARD_HOOK = '$guard';

/**
 * The judge's half, run after `CODEC` in an interpreter that holds no untrusted code. The script's value is a function
 * (codec, call, left, record) that defines `console.assert`, `assert` and `require('assert')`. It returns
 * - `install(name)`: defines the entry point as a call into the program's interpreter;
 * - `blame(error)`: where an error came from: `program`, `assertion` or `other`; `nothing` for undefined.
 * - `lost()`: the first error in an asynchronous function or a promise's callback that is neither the program's nor an
 *   assertion's, or undefined. Test code may have caught it; that cannot be told.
 *
 * `left()` → what the codec's `left` said after the last call, without its `v`, or empty: `graft` makes the arguments
 * that the test code holds what the program has made of its copies. All that can arrive there is data: functions and
 * other things that do not cross stay what they were.
 *
 * `call(text)` → `v` + text | `p` + text (a promise's value) | `e` + JSON [name, message] | `r` + the same (rejection).
 */
export const JUDGE = `(function (codec, call, left, record) {
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
  const typed = {};
  for (const C of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    BigInt64Array, BigUint64Array, Float32Array, Float64Array]) typed[C.name] = C;
  const form = (v) => {
    if (typeof v !== 'object' || v === null) return '';
    if (Array.isArray(v)) return 'array';
    if (v instanceof Map) return 'map';
    if (v instanceof Set) return 'set';
    if (v instanceof Date) return 'date';
    if (ArrayBuffer.isView(v)) return Object.hasOwn(typed, v.constructor.name) ? v.constructor.name : '';
    return kind(v) === '[object Object]' ? 'fields' : '';
  };
  const held = (v) => {
    const out = [];
    const push = (item) => void out.push(item);
    if (form(v) === 'fields') for (const name of Object.keys(v)) push(v[name]);
    else codec.children(v, push);
    return out;
  };
  // Reflect, as what test code has frozen stays as it is, without an error.
  const put = (object, key, value) => {
    const known = Reflect.getOwnPropertyDescriptor(object, key);
    if (known !== undefined && (!('value' in known) || Object.is(known.value, value))) return;
    Reflect.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  };
  const fill = (target, items) => {
    switch (form(target)) {
      case 'array':
        for (let i = 0; i < items.length; i++) {
          const hole = i < target.length && !(i in target) && items[i] === undefined;
          if (!hole) put(target, i, items[i]);
        }
        if (target.length !== items.length) Reflect.set(target, 'length', items.length);
        break;
      case 'fields': {
        const names = Object.keys(target);
        if (names.length !== items.length || names.some((name, i) => name !== items[i][0])) {
          for (const name of names) {
            if ('value' in Reflect.getOwnPropertyDescriptor(target, name)) Reflect.deleteProperty(target, name);
          }
        }
        for (const [name, item] of items) put(target, name, item);
        break;
      }
      case 'map':
        target.clear();
        for (const [key, item] of items) target.set(key, item);
        break;
      case 'set':
        target.clear();
        for (const item of items) target.add(item);
        break;
      case 'date':
        target.setTime(items);
        break;
      default:
        for (let i = 0; i < items.length; i++) target[i] = items[i];
    }
  };
  const make = (type, items) => {
    if (type === 'array') return [];
    if (type === 'map') return new Map();
    if (type === 'set') return new Set();
    if (type === 'date') return new Date(items);
    if (type === 'boxed') return Object(items);
    return Object.hasOwn(typed, type) ? new typed[type](items.length) : {};
  };
  const graft = (args, sent, after) => {
    const known = [];
    const pair = (own, copy) => {
      if (typeof copy !== 'object' || copy === null) return;
      known.push(own);
      const fits = form(own) === form(copy);
      const mine = fits ? held(own) : [], theirs = held(copy);
      for (let i = 0; i < theirs.length; i++) pair(mine[i], theirs[i]);
    };
    pair(args, codec.decode(sent));
    const came = known.length;
    const build = (item) => {
      if (!Array.isArray(item)) return codec.revive(item);
      const [id, type, content] = item;
      if (type === undefined) return known[id];
      // Before what it holds is built, as that may hold it.
      if (id >= came) known[id] = make(type, Array.isArray(content) ? content : codec.revive(content));
      const items = !Array.isArray(content) ? codec.revive(content)
        : type === 'fields' ? content.map(([name, v]) => [name, build(v)])
        : type === 'map' ? content.map(([key, v]) => [build(key), build(v)])
        : content.map(build);
      if (form(known[id]) === type) fill(known[id], items);
      return known[id];
    };
    JSON.parse(after).forEach(build);
  };
  const entry = (...args) => {
    const out = codec.encode(args);
    if (out === '!') throw new TypeError('arguments too large');
    const sent = out.slice(1), reply = call(sent), rest = reply.slice(1), after = left();
    if (after !== '') graft(args, sent, after);
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
  // Own assertions may be added, but none of these replaced.
  const keep = (object) => {
    for (const name of Object.keys(object)) Object.defineProperty(object, name, { writable: false, configurable: false });
  };
  keep(assert);
  keep(strict);
  Object.defineProperty(console, 'assert', { enumerable: true, value: (passed, message) => {
    record(!!passed, JSON.stringify(passed ? '' : message === undefined ? 'console.assert failed' : String(message).slice(0, 500)));
  }, writable: false, configurable: false });
  Object.defineProperty(globalThis, 'console', { writable: false });
  globalThis.assert = assert;
  // What a program answers is data, and nothing here makes it code.
  const refuse = function () { throw new EvalError('test code cannot evaluate text as code'); };
  for (const f of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    const prototype = Object.getPrototypeOf(f);
    const constructor = function () { return refuse(); };
    constructor.prototype = prototype;
    Object.defineProperty(prototype, 'constructor', { value: constructor, writable: false, configurable: false });
    if (prototype === Function.prototype) globalThis.Function = constructor;
  }
  globalThis.eval = refuse;
  globalThis.require = (name) => {
    if (name === 'assert' || name === 'node:assert') return assert;
    if (name === 'assert/strict' || name === 'node:assert/strict') return strict;
    throw new ReferenceError("test code cannot require '" + name + "'");
  };
  const blame = (error) => (error === undefined ? 'nothing'
    : typeof error === 'object' && error !== null && fromProgram.has(error) ? 'program'
    : error instanceof AssertionError ? 'assertion' : 'other');
  let lost;
  const note = (error) => {
    const source = blame(error);
    if (source !== 'program' && source !== 'assertion') lost ??= error;
    return error;
  };
  Object.defineProperty(globalThis, '${JUDGE_HOOK}', { value: note });
  Object.defineProperty(globalThis, '${GUARD_HOOK}', { value: (condition) => {
    if (!condition) record(true, '""');
    return condition;
  } });
  const { then } = Promise.prototype;
  const noting = (f) => typeof f !== 'function' ? f : (v) => {
    try { return f(v); } catch (error) { throw note(error); }
  };
  Promise.prototype.then = function (f, r) { return Reflect.apply(then, this, [noting(f), noting(r)]); };
  return { install, blame, lost: () => lost };
})`;
