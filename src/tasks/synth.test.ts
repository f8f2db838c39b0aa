import { spawnSync } from 'node:child_process';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { HoneError } from '../core/error.js';
import { type Stream, stream } from '../core/seeds.js';
import { drawSpec } from './draw.js';
import { examine, passes } from './examine.js';
import { outputType, same, specKey } from './interpret.js';
import { taskLanguages } from './languages/index.js';
import { renderBody, renderPrompt, type Style } from './languages/language.js';
import { mutations } from './mutate.js';
import { opNames, ops } from './ops.js';
import type { Data, Spec, Step } from './spec.js';
import { type SynthTask, synthTasks, taskAt, taskOf } from './synth.js';

const anyStyle = (random: Stream): Style => ({
  template: (n) => random.int(n),
  name: () => random.next() < 0.3,
});

/** Specs that make tasks: every operation alone, and random compositions of 2–5. */
function sampleSpecs(perLength: number): Spec[] {
  const singles = opNames.flatMap((op): Spec[] => {
    const { from, constants } = ops[op];
    const steps: Step[] = constants.length === 0 ? [{ op }] : constants.map((k) => ({ op, k }));
    return steps.map((step) => ({ input: from, steps: [step] }));
  });
  const random = stream(11, 'specs');
  const composed = [2, 3, 4, 5].flatMap((length) => Array.from({ length: perLength }, () => drawSpec(random, length)));
  return [...singles, ...composed];
}

interface Program {
  readonly key: string;
  readonly source: string;
  readonly cases: readonly { readonly input: Data; readonly output: Data }[];
}

function programs(language: string, perLength: number): Program[] {
  const syntax = taskLanguages[language];
  if (syntax === undefined) throw new Error(`no language ${language}`);
  const random = stream(12, 'style', language);
  return sampleSpecs(perLength).flatMap((spec): Program[] => {
    const examined = examine(spec);
    if (!examined.ok) return [];
    const cases = [...examined.visible, ...examined.hidden];
    const opened = renderPrompt(syntax, 'f', spec.input, 'Do it.', examined.visible);
    const plain = opened + renderBody(syntax, spec);
    const styled = opened + renderBody(syntax, spec, anyStyle(random));
    return [...new Set([plain, styled])].map((source) => ({ key: specKey(spec), source, cases }));
  });
}

test('JavaScript programs, in every style, compute what the interpreter computes', () => {
  const all = programs('javascript', 400);
  expect(all.length).toBeGreaterThan(1000);
  for (const { key, source, cases } of all) {
    const outputs = new Script(
      `${source}\nJSON.stringify(${JSON.stringify(cases.map((c) => c.input))}.map(x => f(x)))`,
    );
    const got = JSON.parse(outputs.runInThisContext() as string) as Data[];
    cases.forEach((example, i) => {
      if (!same(got[i] as Data, example.output)) {
        expect.fail(`${key} on ${JSON.stringify(example.input)}\n${source}\n${JSON.stringify(got[i])}`);
      }
    });
  }
});

test('JavaScript programs never return -0', () => {
  for (const { source, cases } of programs('javascript', 100)) {
    const f = new Script(`(() => { ${source}\nreturn f; })()`).runInThisContext() as (x: unknown) => unknown;
    for (const { input } of cases) {
      const output = f(structuredClone(input));
      for (const item of Array.isArray(output) ? output : [output]) expect(Object.is(item, -0)).toBe(false);
    }
  }
});

const python = spawnSync('python3', ['--version']).status === 0;
if (!python) console.log('skipped: python3 not found');

test.skipIf(!python)('Python programs, in every style, compute what the interpreter computes', () => {
  const all = programs('python', 400);
  const driver = [
    'import json, sys',
    'for line in sys.stdin:',
    '    row = json.loads(line)',
    '    scope = {}',
    '    exec(row["source"], scope)',
    '    print(json.dumps([scope["f"](x) for x in row["inputs"]]))',
  ].join('\n');
  const rows = all.map(({ source, cases }) => JSON.stringify({ source, inputs: cases.map((c) => c.input) }));
  const run = spawnSync('python3', ['-c', driver], { input: rows.join('\n'), encoding: 'utf8', maxBuffer: 1 << 28 });
  expect(run.stderr).toBe('');
  const lines = run.stdout.trim().split('\n');
  expect(lines.length).toBe(all.length);
  lines.forEach((line, i) => {
    const { key, source, cases } = all[i] as Program;
    const got = JSON.parse(line) as Data[];
    cases.forEach((example, j) => {
      if (!same(got[j] as Data, example.output)) {
        expect.fail(`${key} on ${JSON.stringify(example.input)}\n${source}\n${JSON.stringify(got[j])}`);
      }
    });
  });
});

test('every operation makes a task of its own', () => {
  const made = new Set(
    sampleSpecs(0)
      .filter((spec) => examine(spec).ok)
      .map((spec) => spec.steps[0]?.op),
  );
  expect(opNames.filter((name) => !made.has(name))).toEqual([]);
});

const sample: readonly SynthTask[] = [1, 2, 3, 4, 5].flatMap((d) =>
  synthTasks({ seed: 5, split: 'train', language: 'javascript', difficulty: [d, d], count: 150 }),
);

test('tasks have 10 to 20 hidden tests, two or three examples, and no hidden input is shown', () => {
  for (const task of sample) {
    const hidden = task.hidden.cases.map((c) => JSON.stringify(c.args));
    expect(hidden.length).toBeGreaterThanOrEqual(10);
    expect(hidden.length).toBeLessThanOrEqual(20);
    expect(new Set(hidden).size).toBe(hidden.length);
    expect([2, 3]).toContain(task.visible.length);
    for (const example of task.visible) expect(hidden).not.toContain(JSON.stringify(example.args));
  }
});

test('prompts and programs are short', () => {
  const mean = (of: (task: SynthTask) => number): number => sample.reduce((a, t) => a + of(t), 0) / sample.length;
  expect(mean((t) => t.prompt.length)).toBeLessThan(220);
  expect(Math.max(...sample.map((t) => t.prompt.length))).toBeLessThan(420);
  expect(mean((t) => t.reference.length)).toBeLessThan(110);
});

test('a task reads like this', () => {
  const task = taskOf(
    { input: 'ints', steps: [{ op: 'keepEven' }, { op: 'mulEach', k: 3 }, { op: 'sum' }] },
    'javascript',
  );
  expect(`${task?.prompt}${task?.reference}`).toMatchInlineSnapshot(`
    "// javascript
    // Remove all odd numbers. Then triple each number, then return the sum.
    // f([3, 1, 2]) -> 6
    // f([4, 2, 2, 2]) -> 30
    function f(xs) {
      return xs.filter(x => x % 2 === 0).map(x => x * 3).reduce((a, b) => a + b, 0);
    }"
  `);
});

test('the same options give the same tasks, in any order of asking', () => {
  const options = { seed: 9, split: 'heldout', language: 'python', difficulty: [2, 4] } as const;
  const tasks = Array.from({ length: 30 }, (_, index) => taskAt({ ...options, index }));
  const backwards = Array.from({ length: 30 }, (_, i) => taskAt({ ...options, index: 29 - i })).reverse();
  expect(backwards).toEqual(tasks);
  expect(synthTasks({ ...options, count: 20 })).toEqual(synthTasks({ ...options, count: 20 }));
  expect(taskAt({ ...options, seed: 10, index: 0 })).not.toEqual(tasks[0]);
});

test('ids are unique in a set', () => {
  const tasks = synthTasks({ seed: 1, split: 'validation', language: 'javascript', difficulty: [1, 5], count: 300 });
  expect(new Set(tasks.map((t) => t.id)).size).toBe(300);
});

test('single operations cannot be held out', () => {
  expect(() => synthTasks({ seed: 1, split: 'heldout', language: 'javascript', difficulty: [1, 1], count: 1 })).toThrow(
    HoneError,
  );
});

test('asking for more tasks than a split has is an error, not an endless wait', () => {
  expect(() =>
    synthTasks({ seed: 1, split: 'train', language: 'javascript', difficulty: [1, 1], count: 5000 }),
  ).toThrow(/fewer than the 5000/);
});

test.each([
  ['constant', { input: 'str', steps: [{ op: 'upper' }, { op: 'countLetter', k: 'a' }] }],
  ['identity', { input: 'str', steps: [{ op: 'words' }, { op: 'join', k: ' ' }] }],
  ['reducible', { input: 'ints', steps: [{ op: 'sortUp' }, { op: 'sum' }] }],
  ['reducible', { input: 'ints', steps: [{ op: 'sortDown' }, { op: 'firstInt' }] }],
  [
    'reducible',
    {
      input: 'ints',
      steps: [
        { op: 'keepAbove', k: 4 },
        { op: 'keepAtLeast', k: 2 },
      ],
    },
  ],
  ['narrow_domain', { input: 'int', steps: [{ op: 'mul', k: 9 }, { op: 'factorial' }] }],
] as const satisfies readonly (readonly [string, Spec])[])('a pipeline is rejected as %s', (rejection, spec) => {
  expect(examine(spec)).toEqual({ ok: false, rejection });
});

test('hidden tests fail every shorter pipeline and every constant, and catch nearly every mutant that differs', () => {
  let mutants = 0;
  let missed = 0;
  for (const { spec, hidden } of sample) {
    const examples = hidden.cases.map((c) => ({ input: c.args[0] as Data, output: c.expected as Data }));
    const first = examples[0]?.output as Data;
    expect(examples.every((e) => same(e.output, first))).toBe(false);
    spec.steps.forEach((_, at) => {
      const steps = spec.steps.filter((_, i) => i !== at);
      if (outputType(spec.input, steps) !== undefined) expect(passes(steps, examples)).toBe(false);
    });
    // Fresh inputs, drawn under another name, tell whether a mutant differs at all.
    const other = examine(spec, 77);
    if (!other.ok) continue;
    for (const mutant of mutations(spec)) {
      if (passes(mutant.spec.steps, other.hidden)) continue;
      mutants++;
      if (passes(mutant.spec.steps, examples)) missed++;
    }
  }
  expect(mutants).toBeGreaterThan(1000);
  expect(missed / mutants).toBeLessThan(0.02);
});
