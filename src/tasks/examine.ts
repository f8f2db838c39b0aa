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
/** A boolean says less than other outputs, so it takes more of them. */
const HIDDEN_BOOL = 14;
const MOST_HIDDEN = 20;
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

/** The pipeline with one operation replaced by another of the same type, in every way. */
function* substituted(spec: Spec): Generator<readonly Step[]> {
  for (let at = 0; at < spec.steps.length; at++) {
    const { op: name, k } = spec.steps[at] as Step;
    const { from, to } = ops[name];
    for (const op of opsFrom(from)) {
      if (op === name || ops[op].to !== to) continue;
      const { constants } = ops[op];
      const other = k !== undefined && constants.includes(k) ? k : constants[constants.length >> 1];
      const step: Step = other === undefined ? { op } : { op, k: other };
      yield spec.steps.map((old, i) => (i === at ? step : old));
    }
  }
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

/** The examples with true and false taking turns as long as there are both. */
function alternating(examples: readonly Example[]): Example[] {
  const yes = examples.filter(({ output }) => output === true);
  const no = examples.filter(({ output }) => output !== true);
  const ordered: Example[] = [];
  for (let i = 0; i < Math.max(yes.length, no.length); i++) ordered.push(...yes.slice(i, i + 1), ...no.slice(i, i + 1));
  return ordered;
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
 * two of them, or all, by a single one) and, where some candidate input can tell, every one-mistake mutant and every
 * pipeline with one operation replaced. No hidden input is visible.
 * A pure function of the spec and `variant`.
 */
export function examine(spec: Spec, variant = 0): Examination {
  const type = outputType(spec.input, spec.steps);
  if (type === undefined) throw new RangeError(`ill-typed spec ${specKey(spec)}`);
  const random = stream(0, 'tests', specKey(spec), variant);
  const wanted = type === 'bool' ? HIDDEN_BOOL : HIDDEN;
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
  if (edge.length + others.length < wanted) return { ok: false, rejection: 'narrow_domain' };

  // The first edge case (empty, zero) and the long inputs, which come first among the others, always take part.
  const edges = [...edge.slice(0, 1), ...random.shuffle(edge.slice(1)).slice(0, 3)];
  const pool = [...others, ...edge.filter((example) => !edges.includes(example))];
  const ordered = type === 'bool' ? alternating(pool) : pool;
  const hidden = [...edges, ...ordered.slice(0, wanted - edges.length)];
  const rest = ordered.slice(wanted - edges.length);
  if (largestShare(hidden) > (type === 'bool' ? 0.8 : 0.6)) return { ok: false, rejection: 'constant' };

  /** Makes sure that a hidden test tells the pipeline apart, if any candidate can. */
  const caught = (steps: readonly Step[]): boolean => {
    if (!passes(steps, hidden)) return true;
    const at = rest.findIndex((example) => !passes(steps, [example]));
    if (at < 0 || hidden.length >= MOST_HIDDEN) return false;
    hidden.push(...rest.splice(at, 1));
    return true;
  };
  if (type === spec.input && !caught([])) return { ok: false, rejection: 'identity' };
  if (visible.length < 2) return { ok: false, rejection: 'no_example' };
  for (const steps of shorter(spec, type)) if (!caught(steps)) return { ok: false, rejection: 'reducible' };
  for (const steps of compressed(spec, type)) if (!caught(steps)) return { ok: false, rejection: 'reducible' };
  for (const mutant of mutations(spec)) caught(mutant.spec.steps);
  for (const steps of substituted(spec)) caught(steps);
  return { ok: true, visible, hidden };
}
