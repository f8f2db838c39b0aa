import { stream } from '../core/seeds.js';
import { candidateInputs } from './inputs.js';
import { interpret, outputType, same, specKey } from './interpret.js';
import { mutations } from './mutate.js';
import { ops, opsFrom } from './ops.js';
import type { Data, Spec, Step, Type } from './spec.js';

/** One input and what the pipeline returns for it. */
export interface Example {
  readonly input: Data;
  readonly output: Data;
}

/** Why a spec makes no task. */
export type Rejection =
  /** Too few inputs on which it is defined. */
  | 'narrow_domain'
  /** Nearly every input gives the same output. */
  | 'constant'
  /** Returns its input. */
  | 'identity'
  /** A pipeline of fewer operations passes: some operation does not matter, or two are really one. */
  | 'reducible'
  /** No example short enough for a prompt that shows anything. */
  | 'no_example';

export type Examination =
  | { readonly ok: true; readonly visible: readonly Example[]; readonly hidden: readonly Example[] }
  | { readonly ok: false; readonly rejection: Rejection };

const HIDDEN = 10;
const MOST_HIDDEN = 16;
const LONGEST_EXAMPLE = 34;

const textOf = (value: Data): string => JSON.stringify(value);

/** Whether a pipeline returns the expected output on every example. */
export function passes(steps: readonly Step[], examples: readonly Example[]): boolean {
  for (const { input, output } of examples) {
    const got = interpret(steps, input);
    if (got === undefined || !same(got, output)) return false;
  }
  return true;
}

/** Every well-typed pipeline of the same type that remains when some operations are left out. */
function* shorter(spec: Spec, type: Type): Generator<readonly Step[]> {
  const n = spec.steps.length;
  for (let kept = 1; kept < (1 << n) - 1; kept++) {
    const steps = spec.steps.filter((_, i) => (kept >> i) & 1);
    if (outputType(spec.input, steps) === type) yield steps;
  }
}

const singles = new Map<string, readonly Step[]>();

/** Every single operation of a type, with every constant. */
function singleSteps(from: Type, to: Type): readonly Step[] {
  const key = `${from}>${to}`;
  let steps = singles.get(key);
  if (steps === undefined) {
    steps = opsFrom(from)
      .filter((name) => ops[name].to === to)
      .flatMap((op): Step[] => {
        const { constants } = ops[op];
        return constants.length === 0 ? [{ op }] : constants.map((k) => ({ op, k }));
      });
    singles.set(key, steps);
  }
  return steps;
}

/** The pipeline with two neighbours, or all of it, replaced by one operation, in every way. */
function* compressed(spec: Spec, type: Type): Generator<readonly Step[]> {
  const n = spec.steps.length;
  for (let at = 0; at + 1 < n; at++) {
    const from = ops[(spec.steps[at] as Step).op].from;
    const to = ops[(spec.steps[at + 1] as Step).op].to;
    const before = spec.steps.slice(0, at);
    const after = spec.steps.slice(at + 2);
    for (const step of singleSteps(from, to)) yield [...before, step, ...after];
  }
  if (n > 2) for (const step of singleSteps(spec.input, type)) yield [step];
}

/** Share of the examples that have the most common output. */
function largestShare(examples: readonly Example[]): number {
  const counts = new Map<string, number>();
  let most = 0;
  for (const { output } of examples) {
    const key = textOf(output);
    const n = (counts.get(key) ?? 0) + 1;
    counts.set(key, n);
    most = Math.max(most, n);
  }
  return most / examples.length;
}

/** Two or three short examples, with different outputs; the first ones are the least trivial. */
function chooseVisible(pool: readonly Example[], wanted: number): Example[] {
  const chosen: Example[] = [];
  const outputs = new Set<string>();
  for (const example of pool) {
    const output = textOf(example.output);
    if (textOf(example.input).length + output.length > LONGEST_EXAMPLE || outputs.has(output)) continue;
    if (chosen.length === 0 && same(example.input, example.output)) continue;
    outputs.add(output);
    chosen.push(example);
    if (chosen.length === wanted) break;
  }
  return chosen;
}

/**
 * Chooses the visible examples and the hidden tests of a spec, or says why it makes no task.
 *
 * The hidden tests fail every trivial program (constants, identity, any pipeline that leaves operations out or does
 * two of them, or all, by a single one) and, where some candidate input can tell, every one-mistake mutant. No hidden input is visible.
 * A pure function of the spec and `variant`.
 */
export function examine(spec: Spec, variant = 0): Examination {
  const type = outputType(spec.input, spec.steps);
  if (type === undefined) throw new RangeError(`ill-typed spec ${specKey(spec)}`);
  const random = stream(0, 'tests', specKey(spec), variant);
  const candidates = candidateInputs(spec, random);
  const seen = new Set<string>();
  const evaluate = (inputs: readonly Data[]): Example[] => {
    const examples: Example[] = [];
    for (const input of inputs) {
      const key = textOf(input);
      if (seen.has(key)) continue;
      seen.add(key);
      const output = interpret(spec.steps, input);
      if (output !== undefined) examples.push({ input, output });
    }
    return examples;
  };

  const short = evaluate(candidates.short);
  const visible = chooseVisible(short, spec.steps.length <= 3 && random.next() < 0.3 ? 3 : 2);
  const edge = evaluate(candidates.edge);
  const others = evaluate(candidates.random);
  if (edge.length + others.length < HIDDEN) return { ok: false, rejection: 'narrow_domain' };

  // The first edge case (empty, zero) and both long inputs always take part.
  const first = edge.slice(0, 1);
  const edges = [...first, ...random.shuffle(edge.slice(1)).slice(0, 3)];
  const hidden = [...edges, ...others.slice(0, HIDDEN - edges.length)];
  const rest = [...others.slice(HIDDEN - edges.length), ...edge.filter((example) => !edges.includes(example))];
  while (hidden.length < HIDDEN) hidden.push(rest.pop() as Example);
  if (largestShare(hidden) > (type === 'bool' ? 0.8 : 0.6)) return { ok: false, rejection: 'constant' };
  if (visible.length < 2) return { ok: false, rejection: 'no_example' };

  /** Makes sure that a hidden test tells the pipeline apart, if any candidate can. */
  const caught = (steps: readonly Step[]): boolean => {
    if (!passes(steps, hidden)) return true;
    const at = rest.findIndex((example) => !passes(steps, [example]));
    if (at < 0 || hidden.length >= MOST_HIDDEN) return false;
    hidden.push(...rest.splice(at, 1));
    return true;
  };
  if (type === spec.input && !caught([])) return { ok: false, rejection: 'identity' };
  for (const steps of shorter(spec, type)) if (!caught(steps)) return { ok: false, rejection: 'reducible' };
  for (const steps of compressed(spec, type)) if (!caught(steps)) return { ok: false, rejection: 'reducible' };
  for (const mutant of mutations(spec)) caught(mutant.spec.steps);
  return { ok: true, visible, hidden };
}
