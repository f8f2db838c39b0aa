import type { Stream } from '../core/seeds.js';
import type { Constant, Data, Spec, Type } from './spec.js';

const words: readonly string[] = (
  'apple banana tree stone sun moon cat dog house note test sea art tea level noon eat sky bell toss nest oats rhythm ' +
  'on at a ants seat tent Hello Cat SKY blue green top pop gym zoo eve mom wow stats'
).split(' ');

const keyLetters = ['a', 'b', 'c', 'e', 'o', 's', 't', 'n'] as const;

const edges: Readonly<Record<Type, readonly Data[]>> = {
  ints: [[], [0], [-3], [2, 2], [1, 2, 3, 4], [5, 4, 1, 0], [-1, -4, -2], [7, 7, 3, 7, 3], [2, 4, 6, 8], [1, 3, 5, 9]],
  int: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 36, 100, -4, -15],
  str: ['', 'a', 'level', 'hello', 'a b', 'test test', 'TEA'],
  strs: [[], [''], ['sun'], ['tea', 'tea'], ['a', 'bb', 'ccc'], ['noon', 'sea', 'noon', 'art']],
  dict: [{}, { a: 1 }, { b: 2, a: 2 }, { s: 0, t: 5 }],
  bool: [],
};

interface Constants {
  readonly numbers: readonly number[];
  readonly letters: readonly string[];
  /** Whether upper case in the input matters. */
  readonly cased: boolean;
}

function constantsOf(spec: Spec): Constants {
  const all = spec.steps.map(({ k }) => k).filter((k): k is Constant => k !== undefined);
  return {
    numbers: all.filter((k) => typeof k === 'number'),
    letters: all.filter((k): k is string => typeof k === 'string' && /\w/.test(k)),
    cased: spec.steps.some(({ op }) => op === 'lower'),
  };
}

/** An integer that is often a constant of the spec or next to one, where off-by-one mistakes show. */
function number(random: Stream, { numbers }: Constants, low: number, high: number): number {
  if (numbers.length > 0 && random.next() < 0.3) return random.pick(numbers) + random.int(3) - 1;
  return low + random.int(high - low + 1);
}

function word(random: Stream, { letters, cased }: Constants): string {
  let base = random.pick(words);
  if (cased && random.next() < 0.6) base = base.slice(0, 1).toUpperCase() + base.slice(1);
  if (letters.length === 0 || random.next() < 0.6) return base;
  const letter = random.pick(letters);
  const place = random.int(3);
  return place === 0 ? letter + base : place === 1 ? base + letter : base.slice(0, 2) + letter + base.slice(2);
}

function list<T>(length: number, item: () => T, random: Stream): T[] {
  const items: T[] = [];
  for (let i = 0; i < length; i++) items.push(i > 0 && random.next() < 0.2 ? random.pick(items) : item());
  return items;
}

function draw(type: Type, random: Stream, constants: Constants, long: boolean): Data {
  switch (type) {
    case 'ints':
      return list(long ? 12 : 2 + random.int(5), () => number(random, constants, -9, 12), random);
    case 'int': {
      const size = random.next();
      return size < 0.5 ? number(random, constants, 0, 12) : size < 0.8 ? random.int(100) : random.int(1000) - 150;
    }
    case 'str':
      return list(long ? 6 : 1 + random.int(3), () => word(random, constants), random).join(' ');
    case 'strs':
      return list(long ? 9 : 2 + random.int(4), () => word(random, constants), random);
    case 'dict': {
      const keys = random.shuffle([...new Set([...constants.letters, ...keyLetters])]);
      const chosen = keys.slice(0, long ? 8 : 1 + random.int(4));
      return Object.fromEntries(chosen.map((key) => [key, number(random, constants, 0, 9)]));
    }
    case 'bool':
      return random.next() < 0.5;
  }
}

/** An input short enough to show in a prompt: lists of 2–4 small numbers, strings of at most 8 or so characters. */
function drawShort(type: Type, random: Stream, constants: Constants, spec: Spec): Data {
  switch (type) {
    case 'ints':
      return list(3 + random.int(2), () => number(random, constants, -4, 9), random);
    case 'int':
      return random.next() < 0.6 ? number(random, constants, -9, 20) : random.int(200);
    case 'str': {
      const spaced = spec.steps.some(({ op }) => op === 'words' || op === 'dashSpaces');
      const count = spaced ? 2 + random.int(2) : 1;
      const make = (): string => (spaced ? word(random, constants).slice(0, 4) : word(random, constants));
      return list(count, make, random).join(' ');
    }
    case 'strs':
      return list(2 + random.int(2), () => word(random, constants).slice(0, 5), random);
    case 'dict':
    case 'bool':
      return draw(type, random, constants, false);
  }
}

/** Candidate inputs of a spec: edge cases, short ones fit for a prompt, random ones with two long ones among them. */
export function candidateInputs(spec: Spec, random: Stream): { edge: Data[]; short: Data[]; random: Data[] } {
  const constants = constantsOf(spec);
  const edge = [...edges[spec.input]];
  if (spec.input === 'ints') for (const k of constants.numbers) edge.push([k], [k + 1, k, k - 1]);
  if (spec.input === 'int') for (const k of constants.numbers) edge.push(k, k + 1);
  if (spec.input === 'str') for (const k of constants.letters) edge.push(k, `${k}ab${k}`);
  if (spec.input === 'dict') for (const k of constants.letters) edge.push({ [k]: 4, b: 1 });
  const repeat = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
  return {
    edge,
    short: repeat(14, () => drawShort(spec.input, random, constants, spec)),
    random: repeat(28, (i) => draw(spec.input, random, constants, i < 2)),
  };
}
