import type { Constant, Data, DataOf, Type } from './spec.js';

/**
 * One operation of the grammar: its type, the constants it may take and what it computes.
 * `apply` returns `undefined` outside its domain, which is where the languages would disagree (a negative remainder,
 * `-0`) or the wording would be unclear; such inputs never become tests.
 */
export interface Op {
  readonly from: Type;
  readonly to: Type;
  /** Empty: takes no constant. */
  readonly constants: readonly Constant[];
  readonly apply: (value: Data, k: Constant) => Data | undefined;
  /**
   * Operations that render to the same program once names and constants are abstracted share a family, and so do an
   * operation on a value and the same one on each value of a list: the splits cannot tell them apart.
   * Default: the operation's own name.
   */
  readonly family?: string;
  /** Operations of the same type that a hurried programmer confuses with this one. */
  readonly near?: readonly string[];
  /** The same comparison with the other treatment of equality. */
  readonly boundary?: string;
}

interface More {
  readonly family?: string;
  readonly near?: readonly string[];
  readonly boundary?: string;
}

function op<A extends Type, B extends Type>(
  from: A,
  to: B,
  apply: (value: DataOf[A]) => DataOf[B] | undefined,
  more: More = {},
): Op {
  return { from, to, constants: [], apply: apply as unknown as Op['apply'], ...more };
}

function opK<A extends Type, B extends Type, K extends Constant>(
  from: A,
  to: B,
  constants: readonly K[],
  apply: (value: DataOf[A], k: K) => DataOf[B] | undefined,
  more: More = {},
): Op {
  return { from, to, constants, apply: apply as unknown as Op['apply'], ...more };
}

const upTo = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const small = upTo(1, 9);
const factors = upTo(2, 9);
const bounds = upTo(0, 9);
const few = upTo(1, 3);
const letters = ['a', 'e', 'o', 's', 't', 'n'];
const separators = [' ', '-', ','];

const hasUpperVowel = (s: string): boolean => /[AEIOU]/.test(s);
const reversed = (s: string): string => [...s].reverse().join('');
const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function counts(items: Iterable<string>): Record<string, number> {
  const result: Record<string, number> = {};
  for (const item of items) result[item] = (result[item] ?? 0) + 1;
  return result;
}

const table = {
  // list of integers → list of integers
  keepEven: op('ints', 'ints', (xs) => xs.filter((x) => x % 2 === 0), { near: ['keepOdd'] }),
  keepOdd: op('ints', 'ints', (xs) => xs.filter((x) => x % 2 !== 0), { near: ['keepEven'] }),
  keepMultiples: opK('ints', 'ints', upTo(3, 5), (xs, k) => xs.filter((x) => x % k === 0), { family: 'keepEven' }),
  keepAbove: opK('ints', 'ints', bounds, (xs, k) => xs.filter((x) => x > k), {
    near: ['keepBelow'],
    boundary: 'keepAtLeast',
  }),
  keepAtLeast: opK('ints', 'ints', small, (xs, k) => xs.filter((x) => x >= k), {
    family: 'keepAbove',
    near: ['keepAtMost'],
    boundary: 'keepAbove',
  }),
  keepBelow: opK('ints', 'ints', bounds, (xs, k) => xs.filter((x) => x < k), {
    near: ['keepAbove'],
    boundary: 'keepAtMost',
  }),
  keepAtMost: opK('ints', 'ints', small, (xs, k) => xs.filter((x) => x <= k), {
    family: 'keepBelow',
    near: ['keepAtLeast'],
    boundary: 'keepBelow',
  }),
  without: opK('ints', 'ints', bounds, (xs, k) => xs.filter((x) => x !== k)),
  addEach: opK('ints', 'ints', small, (xs, k) => xs.map((x) => x + k), { family: 'add', near: ['subEach', 'mulEach'] }),
  subEach: opK('ints', 'ints', small, (xs, k) => xs.map((x) => x - k), { family: 'add', near: ['addEach'] }),
  mulEach: opK('ints', 'ints', factors, (xs, k) => xs.map((x) => x * k), { family: 'mul', near: ['addEach'] }),
  squareEach: op('ints', 'ints', (xs) => xs.map((x) => x * x), { family: 'square' }),
  absEach: op('ints', 'ints', (xs) => xs.map((x) => Math.abs(x)), { family: 'abs' }),
  halveEach: op('ints', 'ints', (xs) => xs.map((x) => Math.floor(x / 2)), { family: 'halve' }),
  capEach: opK('ints', 'ints', small, (xs, k) => xs.map((x) => Math.min(x, k)), { family: 'cap', near: ['raiseEach'] }),
  raiseEach: opK('ints', 'ints', bounds, (xs, k) => xs.map((x) => Math.max(x, k)), {
    family: 'raise',
    near: ['capEach'],
  }),
  halveEvens: op('ints', 'ints', (xs) => xs.map((x) => (x % 2 === 0 ? x / 2 : x))),
  mulOdds: opK('ints', 'ints', factors, (xs, k) => xs.map((x) => (x % 2 === 0 ? x : x * k)), { near: ['mulEach'] }),
  addIndex: op('ints', 'ints', (xs) => xs.map((x, i) => x + i)),
  reverseInts: op('ints', 'ints', (xs) => [...xs].reverse(), { family: 'reverseList', near: ['sortDown'] }),
  sortUp: op('ints', 'ints', (xs) => [...xs].sort((a, b) => a - b), { near: ['sortDown'] }),
  sortDown: op('ints', 'ints', (xs) => [...xs].sort((a, b) => b - a), { near: ['sortUp'] }),
  uniqueInts: op('ints', 'ints', (xs) => [...new Set(xs)], { family: 'unique' }),
  takeInts: opK('ints', 'ints', few, (xs, k) => xs.slice(0, k), { family: 'take', near: ['takeLastInts', 'dropInts'] }),
  dropInts: opK('ints', 'ints', few, (xs, k) => xs.slice(k), { family: 'drop', near: ['dropLastInts', 'takeInts'] }),
  takeLastInts: opK('ints', 'ints', few, (xs, k) => xs.slice(-k), { family: 'takeLast', near: ['takeInts'] }),
  dropLastInts: opK('ints', 'ints', few, (xs, k) => xs.slice(0, -k), { family: 'dropLast', near: ['dropInts'] }),
  everySecond: op('ints', 'ints', (xs) => xs.filter((_, i) => i % 2 === 0)),
  runningSum: op('ints', 'ints', (xs) => {
    let total = 0;
    return xs.map((x) => {
      total += x;
      return total;
    });
  }),
  differences: op('ints', 'ints', (xs) => xs.slice(1).map((x, i) => x - (xs[i] as number))),

  // list of integers → integer
  sum: op('ints', 'int', (xs) => xs.reduce((a, b) => a + b, 0), { near: ['product', 'countInts'] }),
  product: op('ints', 'int', (xs) => xs.reduce((a, b) => a * b, 1), { near: ['sum'] }),
  max: op('ints', 'int', (xs) => (xs.length ? Math.max(...xs) : 0), { near: ['min', 'lastInt'] }),
  min: op('ints', 'int', (xs) => (xs.length ? Math.min(...xs) : 0), { near: ['max', 'firstInt'] }),
  spread: op('ints', 'int', (xs) => (xs.length ? Math.max(...xs) - Math.min(...xs) : 0)),
  countInts: op('ints', 'int', (xs) => xs.length, { family: 'length', near: ['sum'] }),
  firstInt: op('ints', 'int', (xs) => xs[0] ?? 0, { family: 'first', near: ['lastInt'] }),
  lastInt: op('ints', 'int', (xs) => xs.at(-1) ?? 0, { family: 'last', near: ['firstInt'] }),
  countOf: opK('ints', 'int', bounds, (xs, k) => xs.filter((x) => x === k).length, { near: ['positionOf'] }),
  positionOf: opK('ints', 'int', bounds, (xs, k) => xs.indexOf(k), { family: 'position', near: ['countOf'] }),

  // list of integers → boolean
  allAbove: opK('ints', 'bool', upTo(0, 3), (xs, k) => xs.every((x) => x > k), { near: ['anyAbove'] }),
  anyAbove: opK('ints', 'bool', small, (xs, k) => xs.some((x) => x > k), { near: ['allAbove'] }),
  anyEven: op('ints', 'bool', (xs) => xs.some((x) => x % 2 === 0), { near: ['allEven'] }),
  allEven: op('ints', 'bool', (xs) => xs.every((x) => x % 2 === 0), { near: ['anyEven'] }),
  contains: opK('ints', 'bool', bounds, (xs, k) => xs.includes(k), { family: 'contains' }),
  isSorted: op('ints', 'bool', (xs) => xs.every((x, i) => i === 0 || (xs[i - 1] as number) <= x)),
  hasRepeats: op('ints', 'bool', (xs) => new Set(xs).size < xs.length),

  // integer → integer
  add: opK('int', 'int', small, (n, k) => n + k, { near: ['sub', 'mul'] }),
  sub: opK('int', 'int', small, (n, k) => n - k, { family: 'add', near: ['add'] }),
  mul: opK('int', 'int', factors, (n, k) => n * k, { near: ['add'] }),
  square: op('int', 'int', (n) => n * n),
  abs: op('int', 'int', (n) => Math.abs(n)),
  halve: op('int', 'int', (n) => Math.floor(n / 2)),
  mod: opK('int', 'int', upTo(3, 9), (n, k) => (n < 0 ? undefined : n % k)),
  digitSum: op('int', 'int', (n) => (n < 0 ? undefined : [...String(n)].reduce((a, c) => a + Number(c), 0))),
  reverseDigits: op('int', 'int', (n) => (n < 0 ? undefined : Number(reversed(String(n))))),
  cap: opK('int', 'int', small, (n, k) => Math.min(n, k), { near: ['raise'] }),
  raise: opK('int', 'int', bounds, (n, k) => Math.max(n, k), { near: ['cap'] }),
  collatz: op('int', 'int', (n) => (n % 2 === 0 ? n / 2 : n * 3 + 1)),
  factorial: op('int', 'int', (n) => {
    if (n < 0 || n > 12) return undefined;
    let p = 1;
    for (let i = 2; i <= n; i++) p *= i;
    return p;
  }),

  // integer → list of integers
  range: op('int', 'ints', (n) => (n > 40 ? undefined : Array.from({ length: Math.max(n, 0) }, (_, i) => i + 1))),
  digits: op('int', 'ints', (n) => (n < 0 ? undefined : [...String(n)].map(Number))),
  divisors: op('int', 'ints', (n) => {
    if (n < 1 || n > 1000) return undefined;
    return upTo(1, n).filter((i) => n % i === 0);
  }),
  multiples: opK('int', 'ints', upTo(2, 5), (n, k) => upTo(1, k).map((i) => n * i)),

  // integer → boolean
  isEven: op('int', 'bool', (n) => n % 2 === 0),
  isMultiple: opK('int', 'bool', upTo(3, 5), (n, k) => n % k === 0, { family: 'isEven' }),
  isAbove: opK('int', 'bool', small, (n, k) => n > k, { boundary: 'isAtLeast' }),
  isAtLeast: opK('int', 'bool', small, (n, k) => n >= k, { family: 'isAbove', boundary: 'isAbove' }),
  isPrime: op('int', 'bool', (n) => {
    if (n > 5000) return undefined;
    for (let i = 2; i < n; i++) if (n % i === 0) return false;
    return n > 1;
  }),

  // string → string
  reverseStr: op('str', 'str', reversed, { family: 'reverseList' }),
  upper: op('str', 'str', (s) => s.toUpperCase(), { near: ['lower', 'capitalize'] }),
  lower: op('str', 'str', (s) => s.toLowerCase(), { near: ['upper'] }),
  capitalize: op('str', 'str', (s) => s.slice(0, 1).toUpperCase() + s.slice(1), { near: ['upper'] }),
  removeVowels: op('str', 'str', (s) => (hasUpperVowel(s) ? undefined : s.replace(/[aeiou]/g, ''))),
  removeLetter: opK('str', 'str', letters, (s, k) => s.replaceAll(k, '')),
  dashSpaces: op('str', 'str', (s) => s.replaceAll(' ', '-'), { family: 'removeLetter' }),
  takeChars: opK('str', 'str', upTo(1, 4), (s, k) => s.slice(0, k), { family: 'take', near: ['takeLastChars'] }),
  dropChars: opK('str', 'str', few, (s, k) => s.slice(k), { family: 'drop', near: ['dropLastChars'] }),
  takeLastChars: opK('str', 'str', few, (s, k) => s.slice(-k), { family: 'takeLast', near: ['takeChars'] }),
  dropLastChars: opK('str', 'str', few, (s, k) => s.slice(0, -k), { family: 'dropLast', near: ['dropChars'] }),
  repeat: opK('str', 'str', upTo(2, 4), (s, k) => s.repeat(k), { family: 'mul' }),
  append: opK('str', 'str', letters, (s, k) => s + k, { family: 'add', near: ['prepend'] }),
  prepend: opK('str', 'str', letters, (s, k) => k + s, { near: ['append'] }),
  doubleChars: op('str', 'str', (s) => [...s].map((c) => c + c).join('')),
  sortChars: op('str', 'str', (s) => [...s].sort(byCodeUnit).join('')),
  uniqueChars: op('str', 'str', (s) => [...new Set(s)].join('')),

  // string → integer, boolean, list of words, dictionary
  countChars: op('str', 'int', (s) => s.length, { family: 'length', near: ['countVowels'] }),
  countVowels: op('str', 'int', (s) => (hasUpperVowel(s) ? undefined : s.replace(/[^aeiou]/g, '').length), {
    near: ['countChars'],
  }),
  countLetter: opK('str', 'int', letters, (s, k) => s.split(k).length - 1, {
    family: 'countOf',
    near: ['positionOfLetter'],
  }),
  positionOfLetter: opK('str', 'int', letters, (s, k) => s.indexOf(k), { family: 'position', near: ['countLetter'] }),
  isPalindrome: op('str', 'bool', (s) => s === reversed(s)),
  startsWith: opK('str', 'bool', letters, (s, k) => s.startsWith(k), { near: ['endsWith'] }),
  endsWith: opK('str', 'bool', letters, (s, k) => s.endsWith(k), { near: ['startsWith'] }),
  containsLetter: opK('str', 'bool', letters, (s, k) => s.includes(k), { family: 'contains', near: ['startsWith'] }),
  words: op('str', 'strs', (s) => s.split(' ')),
  letterCounts: op('str', 'dict', (s) => counts(s), { family: 'counts' }),

  // list of strings → list of strings
  keepLonger: opK('strs', 'strs', upTo(2, 4), (ws, k) => ws.filter((w) => w.length > k), { near: ['keepShorter'] }),
  keepShorter: opK('strs', 'strs', upTo(3, 5), (ws, k) => ws.filter((w) => w.length < k), { near: ['keepLonger'] }),
  keepStarting: opK('strs', 'strs', letters, (ws, k) => ws.filter((w) => w.startsWith(k)), {
    near: ['keepContaining'],
  }),
  keepContaining: opK('strs', 'strs', letters, (ws, k) => ws.filter((w) => w.includes(k)), {
    near: ['keepStarting'],
  }),
  upperEach: op('strs', 'strs', (ws) => ws.map((w) => w.toUpperCase()), { family: 'upper' }),
  reverseEach: op('strs', 'strs', (ws) => ws.map(reversed), { family: 'reverseList' }),
  takeCharsEach: opK('strs', 'strs', few, (ws, k) => ws.map((w) => w.slice(0, k)), { family: 'take' }),
  reverseStrs: op('strs', 'strs', (ws) => [...ws].reverse(), { family: 'reverseList' }),
  sortStrs: op('strs', 'strs', (ws) => [...ws].sort(byCodeUnit), { family: 'sortUp' }),
  uniqueStrs: op('strs', 'strs', (ws) => [...new Set(ws)], { family: 'unique' }),
  takeStrs: opK('strs', 'strs', few, (ws, k) => ws.slice(0, k), { family: 'take', near: ['dropStrs'] }),
  dropStrs: opK('strs', 'strs', few, (ws, k) => ws.slice(k), { family: 'drop', near: ['takeStrs'] }),

  // list of strings → other types
  lengths: op('strs', 'ints', (ws) => ws.map((w) => w.length)),
  join: opK('strs', 'str', separators, (ws, k) => ws.join(k)),
  firstStr: op('strs', 'str', (ws) => ws[0] ?? '', { family: 'first', near: ['lastStr'] }),
  lastStr: op('strs', 'str', (ws) => ws.at(-1) ?? '', { family: 'last', near: ['firstStr'] }),
  longest: op('strs', 'str', (ws) => ws.reduce((a, b) => (b.length > a.length ? b : a), '')),
  countStrs: op('strs', 'int', (ws) => ws.length, { family: 'length' }),
  wordCounts: op('strs', 'dict', (ws) => counts(ws), { family: 'counts', near: ['wordLengths'] }),
  wordLengths: op('strs', 'dict', (ws) => Object.fromEntries(ws.map((w) => [w, w.length])), { near: ['wordCounts'] }),
  initialCounts: op('strs', 'dict', (ws) => (ws.includes('') ? undefined : counts(ws.map((w) => w[0] as string)))),

  // dictionary → other types
  keys: op('dict', 'strs', (d) => Object.keys(d)),
  values: op('dict', 'ints', (d) => Object.values(d)),
  keysAbove: opK('dict', 'strs', few, (d, k) => Object.keys(d).filter((key) => (d[key] as number) > k)),
  entriesAbove: opK('dict', 'dict', few, (d, k) => Object.fromEntries(Object.entries(d).filter(([, v]) => v > k))),
  mulValues: opK(
    'dict',
    'dict',
    factors,
    (d, k) => Object.fromEntries(Object.entries(d).map(([key, v]) => [key, v * k])),
    { family: 'mul' },
  ),
  valueOf: opK('dict', 'int', letters, (d, k) => d[k] ?? 0, { family: 'first' }),
  topKey: op('dict', 'str', (d) => Object.keys(d).sort((a, b) => (d[b] as number) - (d[a] as number))[0] ?? ''),
  hasKey: opK('dict', 'bool', letters, (d, k) => k in d, { family: 'contains' }),
} as const satisfies Record<string, Op>;

export type OpName = keyof typeof table;

/** Every operation of the grammar by name. */
export const ops: Readonly<Record<OpName, Op>> = table;

export const opNames = Object.keys(table) as readonly OpName[];

const byInput = new Map<Type, OpName[]>();
for (const name of opNames) {
  const from = ops[name].from;
  byInput.set(from, [...(byInput.get(from) ?? []), name]);
}

/** Operations that take a value of this type, in table order. */
export function opsFrom(type: Type): readonly OpName[] {
  return byInput.get(type) ?? [];
}

export function familyOf(name: OpName): string {
  return ops[name].family ?? name;
}
