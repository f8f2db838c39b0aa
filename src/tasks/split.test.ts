import { expect, test } from 'vitest';
import { stream } from '../core/seeds.js';
import { drawSpec } from './draw.js';
import { examine } from './examine.js';
import { taskLanguages } from './languages/index.js';
import { renderBody, type TaskLanguage } from './languages/language.js';
import { opNames, ops } from './ops.js';
import { pretrainExampleAt } from './pretrain.js';
import type { Spec } from './spec.js';
import { type Split, splitKey, splitOf } from './split.js';
import { synthTasks } from './synth.js';

const kept = new Set(
  (
    'return const let for of in if else not and or True False None function def new lambda is ' +
    'Math String Number Array Object Set Map true false length ' +
    'sum max min len sorted reversed list set dict range str int abs all any zip enumerate'
  ).split(' '),
);

/** A program with its constants and the names of its variables abstracted: literals become `K`, names `v0`, `v1`, … */
function canonical(program: string): string {
  const names = new Map<string, string>();
  const tokens = program.match(/'(?:[^'\\]|\\.)*'|\/\[.*?\]\/g|\d+|[A-Za-z_]\w*|\s+|./g) ?? [];
  let before = '';
  return tokens
    .filter((token) => token.trim() !== '')
    .map((token) => {
      const member = before === '.';
      before = token;
      if (/^'|^\d/.test(token)) return 'K';
      if (!/^[A-Za-z_]/.test(token) || member || kept.has(token)) return token;
      const name = names.get(token) ?? `v${names.size}`;
      names.set(token, name);
      return name;
    })
    .join(' ');
}

/** Every way that the language has to write each operation; the styles of the operations go together. */
function writings(language: TaskLanguage, spec: Spec): string[] {
  return [0, 1].flatMap((choice) =>
    [false, true].map((name) =>
      canonical(renderBody(language, spec, { template: (n) => Math.min(choice, n - 1), name: () => name })),
    ),
  );
}

test('constants and names do not show in the canonical form, operations do', () => {
  expect(canonical('xs.filter(x => x > 3).length')).toBe(canonical('ws.filter(w => w > 10).length'));
  expect(canonical('xs.filter(x => x > 3)')).not.toBe(canonical('xs.filter(x => x < 3)'));
});

const canonicalDraws = stream(21, 'canonical');
const drawn: readonly Spec[] = [1, 2, 3]
  .flatMap((length) => Array.from({ length: 4000 }, () => drawSpec(canonicalDraws, length)))
  .filter((spec) => examine(spec).ok);

test.each(Object.values(taskLanguages))(
  'no $id program is in two splits, up to constants, names and writing',
  (language) => {
    const owner = new Map<string, { split: Split; spec: Spec }>();
    const bySplit = { train: 0, validation: 0, heldout: 0 };
    const clashes: string[] = [];
    for (const spec of drawn) {
      const split = splitOf(spec);
      bySplit[split]++;
      for (const program of writings(language, spec)) {
        const earlier = owner.get(program);
        if (earlier === undefined) owner.set(program, { split, spec });
        else if (earlier.split !== split) clashes.push(`${program} : ${splitKey(spec)} ${splitKey(earlier.spec)}`);
      }
    }
    expect(clashes).toEqual([]);
    expect(bySplit.heldout).toBeGreaterThan(500);
    expect(bySplit.validation).toBeGreaterThan(150);
  },
);

test('operations of one canonical program share a family', () => {
  // Stronger than sampling: a clash between single operations would split every composition of them.
  for (const language of Object.values(taskLanguages)) {
    const family = new Map<string, string>();
    for (const op of opNames) {
      const { from, constants } = ops[op];
      const k = constants[0];
      const spec: Spec = { input: from, steps: [k === undefined ? { op } : { op, k }] };
      for (const program of writings(language, spec)) {
        expect(`${program}: ${family.get(program) ?? splitKey(spec)}`).toBe(`${program}: ${splitKey(spec)}`);
        family.set(program, splitKey(spec));
      }
    }
  }
});

test('neither constants nor the order of operations move a spec to another split', () => {
  const random = stream(22, 'order');
  for (let i = 0; i < 500; i++) {
    const spec = drawSpec(random, 2 + random.int(4));
    const renumbered = { ...spec, steps: spec.steps.map(({ op, k }) => (k === undefined ? { op } : { op, k: 7 })) };
    expect(splitOf({ ...spec, steps: random.shuffle(spec.steps) })).toBe(splitOf(spec));
    expect(splitOf(renumbered)).toBe(splitOf(spec));
  }
});

test('tasks come from the split that was asked for', () => {
  for (const split of ['train', 'validation', 'heldout'] as const) {
    const tasks = synthTasks({ seed: 2, split, language: 'javascript', difficulty: [2, 5], count: 60 });
    expect(tasks.map(({ spec }) => splitOf(spec))).toEqual(Array(60).fill(split));
  }
});

test('the corpus shows no held-out composition, not even in its mistakes', () => {
  const options = { seed: 3, languages: ['javascript', 'python'], errorRate: 0.5 };
  for (let i = 0; i < 800; i++) {
    const { spec, written } = pretrainExampleAt(options, i);
    expect([splitOf(spec), splitOf(written)]).toEqual(['train', 'train']);
  }
});
