import type { Value } from '../../core/value.js';
import { quoted, type TaskLanguage, type Template } from './language.js';

const sum = (result: string): Template => ({ result, binding: 'sum' });
const product = (result: string): Template => ({ result, binding: 'product' });
const loose = (result: string): Template => ({ result, binding: 'loose' });

function literal(value: Value): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(literal).join(', ')}]`;
  const entries = Object.entries(value as { readonly [key: string]: Value });
  return `{${entries.map(([key, v]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : quoted(key)}: ${literal(v)}`).join(', ')}}`;
}

const counting = (items: string): Template => ({
  name: 'counts',
  lines: ['const $r = {};', `for (const x of ${items}) $r[x] = ($r[x] || 0) + 1;`],
  result: '$r',
});

/** JavaScript: method chains, with a `const` where a value is needed twice. */
export const javascript: TaskLanguage = {
  id: 'javascript',
  comment: '//',
  names: {
    int: ['n', 'm', 'p', 'q'],
    ints: ['xs', 'ys', 'zs'],
    str: ['s', 't', 'u'],
    strs: ['ws', 'vs', 'us'],
    bool: ['b'],
    dict: ['d', 'e', 'g'],
  },
  open: (entryPoint, parameter) => `function ${entryPoint}(${parameter}) {\n`,
  close: '\n}',
  indent: '  ',
  literal,
  assign: (name, expression) => `const ${name} = ${expression};`,
  give: (expression) => `return ${expression};`,
  copy: (name) => `[...${name}]`,
  rebinds: false,
  templates: {
    keepEven: ['$e.filter(x => x % 2 === 0)'],
    keepOdd: ['$e.filter(x => x % 2 !== 0)'],
    keepMultiples: ['$e.filter(x => x % $k === 0)'],
    keepAbove: ['$e.filter(x => x > $k)'],
    keepAtLeast: ['$e.filter(x => x >= $k)'],
    keepBelow: ['$e.filter(x => x < $k)'],
    keepAtMost: ['$e.filter(x => x <= $k)'],
    without: ['$e.filter(x => x !== $k)'],
    addEach: ['$e.map(x => x + $k)'],
    subEach: ['$e.map(x => x - $k)'],
    mulEach: ['$e.map(x => x * $k)'],
    squareEach: ['$e.map(x => x * x)', '$e.map(x => x ** 2)'],
    absEach: ['$e.map(x => Math.abs(x))', '$e.map(Math.abs)'],
    halveEach: ['$e.map(x => Math.floor(x / 2))'],
    capEach: ['$e.map(x => Math.min(x, $k))', '$e.map(x => x > $k ? $k : x)'],
    raiseEach: ['$e.map(x => Math.max(x, $k))', '$e.map(x => x < $k ? $k : x)'],
    halveEvens: ['$e.map(x => x % 2 === 0 ? x / 2 : x)'],
    mulOdds: ['$e.map(x => x % 2 === 0 ? x : x * $k)', '$e.map(x => x % 2 !== 0 ? x * $k : x)'],
    addIndex: ['$e.map((x, i) => x + i)'],
    reverseInts: ['$c.reverse()'],
    sortUp: ['$c.sort((a, b) => a - b)'],
    sortDown: ['$c.sort((a, b) => b - a)'],
    uniqueInts: ['[...new Set($x)]', '$e.filter((x, i, a) => a.indexOf(x) === i)'],
    takeInts: ['$e.slice(0, $k)'],
    dropInts: ['$e.slice($k)'],
    takeLastInts: ['$e.slice(-$k)'],
    dropLastInts: ['$e.slice(0, -$k)'],
    everySecond: ['$e.filter((x, i) => i % 2 === 0)'],
    runningSum: [{ name: 'total', lines: ['let $r = 0;'], result: '$e.map(x => $r += x)' }],
    differences: ['$v.slice(1).map((x, i) => x - $v[i])'],

    sum: [
      '$e.reduce((a, b) => a + b, 0)',
      { name: 'sum', lines: ['let $r = 0;', 'for (const x of $x) $r += x;'], result: '$r' },
    ],
    product: [
      '$e.reduce((a, b) => a * b, 1)',
      { name: 'product', lines: ['let $r = 1;', 'for (const x of $x) $r *= x;'], result: '$r' },
    ],
    max: [loose('$v.length ? Math.max(...$v) : 0'), loose('$v.length === 0 ? 0 : Math.max(...$v)')],
    min: [loose('$v.length ? Math.min(...$v) : 0'), loose('$v.length === 0 ? 0 : Math.min(...$v)')],
    spread: [loose('$v.length ? Math.max(...$v) - Math.min(...$v) : 0')],
    countInts: ['$e.length'],
    firstInt: [loose('$e[0] ?? 0')],
    lastInt: [loose('$e.at(-1) ?? 0'), loose('$v[$v.length - 1] ?? 0')],
    countOf: ['$e.filter(x => x === $k).length'],
    positionOf: ['$e.indexOf($k)'],

    allAbove: ['$e.every(x => x > $k)'],
    anyAbove: ['$e.some(x => x > $k)'],
    anyEven: ['$e.some(x => x % 2 === 0)'],
    allEven: ['$e.every(x => x % 2 === 0)'],
    contains: ['$e.includes($k)'],
    isSorted: ['$v.every((x, i) => i === 0 || $v[i - 1] <= x)'],
    hasRepeats: [loose('new Set($v).size < $v.length'), loose('new Set($v).size !== $v.length')],

    add: [sum('$a + $k')],
    sub: [sum('$a - $k')],
    mul: [product('$m * $k')],
    square: [product('$v * $v'), product('$e ** 2')],
    abs: ['Math.abs($x)'],
    halve: ['Math.floor($m / 2)'],
    mod: [product('$m % $k')],
    digitSum: [
      '[...String($x)].map(Number).reduce((a, b) => a + b, 0)',
      "String($x).split('').reduce((a, c) => a + Number(c), 0)",
    ],
    reverseDigits: ["Number([...String($x)].reverse().join(''))"],
    cap: ['Math.min($x, $k)'],
    raise: ['Math.max($x, $k)'],
    collatz: [loose('$v % 2 === 0 ? $v / 2 : $v * 3 + 1')],
    factorial: [{ name: 'product', lines: ['let $r = 1;', 'for (let i = 2; i <= $v; i++) $r *= i;'], result: '$r' }],

    range: ['Array.from({ length: $x }, (_, i) => i + 1)'],
    digits: ['[...String($x)].map(Number)', "String($x).split('').map(Number)"],
    divisors: [
      {
        name: 'ds',
        lines: ['const $r = [];', 'for (let i = 1; i <= $v; i++) if ($v % i === 0) $r.push(i);'],
        result: '$r',
      },
    ],
    multiples: ['Array.from({ length: $k }, (_, i) => $m * (i + 1))'],

    isEven: [loose('$m % 2 === 0')],
    isMultiple: [loose('$m % $k === 0')],
    isAbove: [loose('$a > $k')],
    isAtLeast: [loose('$a >= $k')],
    isPrime: [
      {
        name: 'prime',
        lines: ['let $r = $v > 1;', 'for (let i = 2; i < $v; i++) if ($v % i === 0) $r = false;'],
        result: '$r',
      },
    ],

    reverseStr: ["[...$x].reverse().join('')", "$e.split('').reverse().join('')"],
    upper: ['$e.toUpperCase()'],
    lower: ['$e.toLowerCase()'],
    capitalize: [sum('$v.slice(0, 1).toUpperCase() + $v.slice(1)')],
    removeVowels: ["$e.replace(/[aeiou]/g, '')"],
    removeLetter: ["$e.replaceAll($k, '')"],
    dashSpaces: ["$e.replaceAll(' ', '-')"],
    takeChars: ['$e.slice(0, $k)'],
    dropChars: ['$e.slice($k)'],
    takeLastChars: ['$e.slice(-$k)'],
    dropLastChars: ['$e.slice(0, -$k)'],
    repeat: ['$e.repeat($k)'],
    append: [sum('$a + $k')],
    prepend: [sum('$k + $m')],
    doubleChars: ["[...$x].map(c => c + c).join('')"],
    sortChars: ["[...$x].sort().join('')", "$e.split('').sort().join('')"],
    uniqueChars: ["Array.from(new Set($x)).join('')"],

    countChars: ['$e.length'],
    countVowels: ["[...$x].filter(c => 'aeiou'.includes(c)).length"],
    countLetter: [sum('$e.split($k).length - 1'), '[...$x].filter(c => c === $k).length'],
    positionOfLetter: ['$e.indexOf($k)'],
    isPalindrome: [loose("$v === [...$v].reverse().join('')")],
    startsWith: ['$e.startsWith($k)'],
    endsWith: ['$e.endsWith($k)'],
    containsLetter: ['$e.includes($k)'],
    words: ["$e.split(' ')"],
    letterCounts: [counting('$x')],

    keepLonger: ['$e.filter(w => w.length > $k)'],
    keepShorter: ['$e.filter(w => w.length < $k)'],
    keepStarting: ['$e.filter(w => w.startsWith($k))'],
    keepContaining: ['$e.filter(w => w.includes($k))'],
    upperEach: ['$e.map(w => w.toUpperCase())'],
    reverseEach: ["$e.map(w => [...w].reverse().join(''))"],
    takeCharsEach: ['$e.map(w => w.slice(0, $k))'],
    reverseStrs: ['$c.reverse()'],
    sortStrs: ['$c.sort()'],
    uniqueStrs: ['[...new Set($x)]', '$e.filter((w, i, a) => a.indexOf(w) === i)'],
    takeStrs: ['$e.slice(0, $k)'],
    dropStrs: ['$e.slice($k)'],

    lengths: ['$e.map(w => w.length)'],
    join: ['$e.join($k)'],
    firstStr: [loose("$e[0] ?? ''")],
    lastStr: [loose("$e.at(-1) ?? ''"), loose("$v[$v.length - 1] ?? ''")],
    longest: ["$e.reduce((a, b) => b.length > a.length ? b : a, '')"],
    countStrs: ['$e.length'],
    wordCounts: [counting('$x')],
    wordLengths: ['Object.fromEntries($e.map(w => [w, w.length]))'],
    initialCounts: [
      {
        name: 'counts',
        lines: ['const $r = {};', 'for (const w of $x) $r[w[0]] = ($r[w[0]] || 0) + 1;'],
        result: '$r',
      },
    ],

    keys: ['Object.keys($x)'],
    values: ['Object.values($x)'],
    keysAbove: ['Object.keys($v).filter(k => $v[k] > $k)'],
    entriesAbove: ['Object.fromEntries(Object.entries($x).filter(([k, v]) => v > $k))'],
    mulValues: ['Object.fromEntries(Object.entries($x).map(([k, v]) => [k, v * $k]))'],
    valueOf: [loose('$e[$k] ?? 0')],
    topKey: [loose("Object.keys($v).sort((a, b) => $v[b] - $v[a])[0] ?? ''")],
    hasKey: [loose('$k in $e')],
  },
};
