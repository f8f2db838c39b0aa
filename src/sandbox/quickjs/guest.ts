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
 * - `track()`: from now on `left()` gives the arguments of the last `run` as the program left them, and all that was in
 *   them: `v` + a JSON list, or `!` where they are larger or deeper than allowed. A container is there `[id, kind, content]` the first time and `[id]`
 *   after that, so that it keeps its identity and may contain itself; everything else is as in a wire text, where it is
 *   never an array. The containers that went in have the first ids, in the order in which `children` visits them.
 * - `revive(value)`: a wire value, parsed, as what it stands for.
 * - `children(value, visit)`: calls `visit` with what a container of decoded data holds; false if it is no container.
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
  const { forEach: mapForEach, set: mapSet, get: mapGet } = Map.prototype;
  const { forEach: setForEach, add: setAdd, has: setHas } = Set.prototype;
  const { prototype: mapPrototype } = Map, { prototype: setPrototype } = Set;
  const mapSize = getter(mapPrototype, 'size'), setSize = getter(setPrototype, 'size');
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

  // Walks decoded data only, so there is nothing of the program's that could run.
  const children = (v, visit) => {
    if (typeof v !== 'object' || v === null) return false;
    if (isArray(v)) {
      for (let i = 0; i < v.length; i++) visit(v[i]);
      return true;
    }
    const prototype = getPrototypeOf(v);
    if (prototype === mapPrototype) apply(mapForEach, v, [(item, key) => { visit(key); visit(item); }]);
    else if (prototype === setPrototype) apply(setForEach, v, [visit]);
    else if (prototype === objectPrototype || prototype === null) {
      const names = keys(v);
      for (let i = 0; i < names.length; i++) visit(v[names[i]]);
    }
    return true;
  };
  let tracking = false, given, ids, count = 0, done;
  const number = (v) => {
    if (typeof v === 'object' && v !== null) apply(mapSet, ids, [v, count++]);
    children(v, number);
  };
  const nodeList = (items, length, depth) => {
    if (length > nodes) throw LIMIT;
    let out = '[';
    for (let i = 0; i < length; i++) out += (i === 0 ? '' : ',') + node(items[i], depth);
    return out + ']';
  };
  const nodeFields = (object, depth) => {
    const names = keys(object), length = names.length;
    if (length > nodes) throw LIMIT;
    let out = '[';
    for (let i = 0; i < length; i++) {
      const name = names[i];
      if ((chars -= name.length) < 0) throw LIMIT;
      out += (i === 0 ? '' : ',') + '[' + quote(name) + ',' + node(object[name], depth) + ']';
    }
    return out + ']';
  };
  const nodeEach = (forEach, object, write) => {
    let out = '', error = null;
    apply(forEach, object, [(item, key) => {
      if (error !== null) return;
      try { out += (out === '' ? '' : ',') + write(item, key); } catch (e) { error = [e]; }
    }]);
    if (error !== null) throw error[0];
    return '[' + out + ']';
  };
  const content = (object, depth) => {
    if (isArray(object)) return '"array",' + nodeList(object, object.length, depth);
    const name = apply(typedName, object, []);
    if (name !== undefined) return quote(name) + ',' + nodeList(object, apply(typedLength, object, []), depth);
    if (brand(mapSize, object) !== null) {
      return '"map",' + nodeEach(mapForEach, object, (item, key) => '[' + node(key, depth) + ',' + node(item, depth) + ']');
    }
    if (brand(setSize, object) !== null) return '"set",' + nodeEach(setForEach, object, (item) => node(item, depth));
    const time = brand(getTime, object);
    if (time !== null) return '"date",' + value(time[0], 0);
    const boxed = brand(numberValue, object) || brand(stringValue, object) || brand(booleanValue, object);
    if (boxed !== null) return '"boxed",' + value(boxed[0], 0);
    return '"fields",' + nodeFields(object, depth);
  };
  const node = (v, depth) => {
    if (typeof v !== 'object' || v === null) return value(v, 0);
    if (--nodes < 0 || depth >= ${MAX_DEPTH}) throw LIMIT;
    let id = apply(mapGet, ids, [v]);
    if (id === undefined) apply(mapSet, ids, [v, (id = count++)]);
    if (apply(setHas, done, [v])) return '[' + id + ']';
    apply(setAdd, done, [v]);
    return '[' + id + ',' + content(v, depth + 1) + ']';
  };
  const left = () => {
    nodes = ${MAX_NODES};
    chars = maxChars;
    done = new SetOf();
    try {
      let out = '[' + node(given, 0);
      // What is no longer within the arguments may still be in the tests' hands.
      apply(mapForEach, ids, [(_, v) => { if (!apply(setHas, done, [v])) out += ',' + node(v, 0); }]);
      out += ']';
      return out.length > 4 * maxChars + 16 ? '!' : 'v' + out;
    } catch (e) {
      if (e === LIMIT) return '!';
      throw e;
    }
  };
  const track = () => { tracking = true; };

  const run = (entry, source) => {
    const args = decode(source);
    if (tracking) {
      given = args;
      ids = new MapOf();
      count = 0;
      number(args);
    }
    const result = apply(entry, undefined, args);
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
  return { run, encode, decode, describe, configure, track, left, children, revive };
})`;
