import type { Value } from '../../core/value.js';
import { quoted, type TaskLanguage, type Template } from './language.js';

const sum = (result: string): Template => ({ result, binding: 'sum' });
const product = (result: string): Template => ({ result, binding: 'product' });
const loose = (result: string): Template => ({ result, binding: 'loose' });

function literal(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(literal).join(', ')}]`;
  const entries = Object.entries(value as { readonly [key: string]: Value });
  return `{${entries.map(([key, v]) => `${quoted(key)}: ${literal(v)}`).join(', ')}}`;
}

const counting = (items: string): Template => ({
  name: 'counts',
  lines: ['$r = {}', `for x in ${items}:`, '    $r[x] = $r.get(x, 0) + 1'],
  result: '$r',
});

/** Python 3: comprehensions over a name that is bound anew. */
export const python: TaskLanguage = {
  id: 'python',
  comment: '#',
  names: { int: ['n'], ints: ['xs'], str: ['s'], strs: ['ws'], bool: ['b'], dict: ['d'] },
  open: (entryPoint, parameter) => `def ${entryPoint}(${parameter}):\n`,
  close: '',
  indent: '    ',
  literal,
  assign: (name, expression) => `${name} = ${expression}`,
  give: (expression) => `return ${expression}`,
  copy: (name) => name,
  rebinds: true,
  templates: {
    keepEven: ['[x for x in $v if x % 2 == 0]'],
    // `x % 2 == 1` would be `keepMultiples` with other constants, which the splits could not tell apart.
    keepOdd: ['[x for x in $v if x % 2 != 0]'],
    keepMultiples: ['[x for x in $v if x % $k == 0]'],
    keepAbove: ['[x for x in $v if x > $k]'],
    keepAtLeast: ['[x for x in $v if x >= $k]'],
    keepBelow: ['[x for x in $v if x < $k]'],
    keepAtMost: ['[x for x in $v if x <= $k]'],
    without: ['[x for x in $v if x != $k]'],
    addEach: ['[x + $k for x in $v]'],
    subEach: ['[x - $k for x in $v]'],
    mulEach: ['[x * $k for x in $v]'],
    squareEach: ['[x * x for x in $v]', '[x ** 2 for x in $v]'],
    absEach: ['[abs(x) for x in $v]'],
    halveEach: ['[x // 2 for x in $v]'],
    capEach: ['[min(x, $k) for x in $v]'],
    raiseEach: ['[max(x, $k) for x in $v]'],
    halveEvens: ['[x // 2 if x % 2 == 0 else x for x in $v]'],
    mulOdds: ['[x if x % 2 == 0 else x * $k for x in $v]', '[x * $k if x % 2 != 0 else x for x in $v]'],
    addIndex: ['[x + i for i, x in enumerate($x)]'],
    reverseInts: ['$e[::-1]', 'list(reversed($x))'],
    sortUp: ['sorted($x)'],
    sortDown: ['sorted($x, reverse=True)'],
    uniqueInts: ['list(dict.fromkeys($x))'],
    takeInts: ['$e[:$k]'],
    dropInts: ['$e[$k:]'],
    takeLastInts: ['$e[-$k:]'],
    dropLastInts: ['$e[:-$k]'],
    everySecond: ['$e[::2]'],
    runningSum: ['[sum($v[:i + 1]) for i in range(len($v))]'],
    differences: ['[b - a for a, b in zip($v, $v[1:])]'],

    sum: ['sum($x)', { name: 'total', lines: ['$r = 0', 'for x in $x:', '    $r += x'], result: '$r' }],
    product: [{ name: 'p', lines: ['$r = 1', 'for x in $x:', '    $r *= x'], result: '$r' }],
    max: ['max($x, default=0)', loose('max($v) if $v else 0')],
    min: ['min($x, default=0)', loose('min($v) if $v else 0')],
    spread: [loose('max($v) - min($v) if $v else 0')],
    countInts: ['len($x)'],
    firstInt: [loose('$v[0] if $v else 0')],
    lastInt: [loose('$v[-1] if $v else 0')],
    countOf: ['$e.count($k)'],
    positionOf: [loose('$v.index($k) if $k in $v else -1')],

    allAbove: ['all(x > $k for x in $a)'],
    anyAbove: ['any(x > $k for x in $a)'],
    anyEven: ['any(x % 2 == 0 for x in $a)'],
    allEven: ['all(x % 2 == 0 for x in $a)'],
    contains: [loose('$k in $e')],
    isSorted: [loose('$v == sorted($v)')],
    hasRepeats: [loose('len(set($v)) < len($v)'), loose('len(set($v)) != len($v)')],

    add: [sum('$a + $k')],
    sub: [sum('$a - $k')],
    mul: [product('$m * $k')],
    square: [product('$v * $v'), product('$e ** 2')],
    abs: ['abs($x)'],
    halve: [product('$m // 2')],
    mod: [product('$m % $k')],
    digitSum: ['sum(int(c) for c in str($x))'],
    reverseDigits: ['int(str($x)[::-1])'],
    cap: ['min($x, $k)'],
    raise: ['max($x, $k)'],
    collatz: [loose('$v // 2 if $v % 2 == 0 else $v * 3 + 1')],
    factorial: [{ name: 'p', lines: ['$r = 1', 'for i in range(2, $a + 1):', '    $r *= i'], result: '$r' }],

    range: ['list(range(1, $a + 1))', '[i for i in range(1, $a + 1)]'],
    digits: ['[int(c) for c in str($x)]'],
    divisors: ['[i for i in range(1, $v + 1) if $v % i == 0]'],
    multiples: ['[$v * i for i in range(1, $k + 1)]'],

    isEven: [loose('$m % 2 == 0')],
    isMultiple: [loose('$m % $k == 0')],
    isAbove: [loose('$a > $k')],
    isAtLeast: [loose('$a >= $k')],
    isPrime: [loose('$v > 1 and all($v % i != 0 for i in range(2, $v))')],

    reverseStr: ['$e[::-1]'],
    upper: ['$e.upper()'],
    lower: ['$e.lower()'],
    capitalize: [sum('$v[:1].upper() + $v[1:]')],
    removeVowels: ["''.join(c for c in $a if c not in 'aeiou')"],
    removeLetter: ["$e.replace($k, '')"],
    dashSpaces: ["$e.replace(' ', '-')"],
    takeChars: ['$e[:$k]'],
    dropChars: ['$e[$k:]'],
    takeLastChars: ['$e[-$k:]'],
    dropLastChars: ['$e[:-$k]'],
    repeat: [product('$m * $k')],
    append: [sum('$a + $k')],
    prepend: [sum('$k + $m')],
    doubleChars: ["''.join(c + c for c in $a)"],
    sortChars: ["''.join(sorted($x))"],
    uniqueChars: ["''.join(dict.fromkeys($x))"],

    countChars: ['len($x)'],
    countVowels: ["sum(c in 'aeiou' for c in $a)", "len([c for c in $a if c in 'aeiou'])"],
    countLetter: ['$e.count($k)'],
    positionOfLetter: ['$e.find($k)'],
    isPalindrome: [loose('$v == $v[::-1]')],
    startsWith: ['$e.startswith($k)'],
    endsWith: ['$e.endswith($k)'],
    containsLetter: [loose('$k in $e')],
    words: ["$e.split(' ')"],
    letterCounts: [counting('$x')],

    keepLonger: ['[w for w in $v if len(w) > $k]'],
    keepShorter: ['[w for w in $v if len(w) < $k]'],
    keepStarting: ['[w for w in $v if w.startswith($k)]'],
    keepContaining: ['[w for w in $v if $k in w]'],
    upperEach: ['[w.upper() for w in $v]'],
    reverseEach: ['[w[::-1] for w in $v]'],
    takeCharsEach: ['[w[:$k] for w in $v]'],
    reverseStrs: ['$e[::-1]', 'list(reversed($x))'],
    sortStrs: ['sorted($x)'],
    uniqueStrs: ['list(dict.fromkeys($x))'],
    takeStrs: ['$e[:$k]'],
    dropStrs: ['$e[$k:]'],

    lengths: ['[len(w) for w in $v]'],
    join: ['$k.join($x)'],
    firstStr: [loose("$v[0] if $v else ''")],
    lastStr: [loose("$v[-1] if $v else ''")],
    longest: ["max($x, key=len, default='')"],
    countStrs: ['len($x)'],
    wordCounts: [counting('$x')],
    wordLengths: ['{w: len(w) for w in $v}'],
    initialCounts: [
      { name: 'counts', lines: ['$r = {}', 'for w in $x:', '    $r[w[0]] = $r.get(w[0], 0) + 1'], result: '$r' },
    ],

    keys: ['list($x)', 'list($e.keys())'],
    values: ['list($e.values())'],
    keysAbove: ['[k for k in $v if $v[k] > $k]', '[k for k, v in $e.items() if v > $k]'],
    entriesAbove: ['{k: v for k, v in $e.items() if v > $k}'],
    mulValues: ['{k: v * $k for k, v in $e.items()}'],
    valueOf: ['$e.get($k, 0)'],
    topKey: ["max($v, key=$v.get, default='')"],
    hasKey: [loose('$k in $e')],
  },
};
