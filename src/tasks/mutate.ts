import { outputType, specKey } from './interpret.js';
import { type OpName, ops } from './ops.js';
import type { Constant, Spec, Step } from './spec.js';

/** The mistakes that a hurried programmer makes. */
export type MutationKind = 'off_by_one' | 'comparison' | 'confused' | 'dropped' | 'swapped';

export interface Mutation {
  readonly kind: MutationKind;
  readonly spec: Spec;
}

const replaceStep = (spec: Spec, at: number, step: Step): Spec => ({
  input: spec.input,
  steps: spec.steps.map((old, i) => (i === at ? step : old)),
});

function withOp(name: OpName, k: Constant | undefined): Step {
  const { constants } = ops[name];
  if (constants.length === 0) return { op: name };
  return { op: name, k: k ?? (constants[0] as Constant) };
}

/** A constant one too large or too small; for a letter, the next one of the operation's letters. */
export function offByOne(spec: Spec): Spec[] {
  return spec.steps.flatMap((step, at) => {
    const { k } = step;
    if (k === undefined) return [];
    if (typeof k === 'number') {
      // `slice(0, -0)` and remainders by zero are no programs that anyone writes.
      return [k + 1, k - 1].filter((next) => next >= 1).map((next) => replaceStep(spec, at, { op: step.op, k: next }));
    }
    const { constants } = ops[step.op];
    const next = constants[(constants.indexOf(k) + 1) % constants.length] as Constant;
    return [replaceStep(spec, at, { op: step.op, k: next })];
  });
}

/** `>` for `>=` and the like. */
export function wrongComparison(spec: Spec): Spec[] {
  return spec.steps.flatMap((step, at) => {
    const other = ops[step.op].boundary as OpName | undefined;
    return other === undefined ? [] : [replaceStep(spec, at, withOp(other, step.k))];
  });
}

/** An operation taken for a near one: ascending for descending, first for last. */
export function confused(spec: Spec): Spec[] {
  return spec.steps.flatMap((step, at) =>
    ((ops[step.op].near ?? []) as readonly OpName[]).map((name) => replaceStep(spec, at, withOp(name, step.k))),
  );
}

/** One operation forgotten. */
export function dropped(spec: Spec): Spec[] {
  return spec.steps.map((_, at) => ({ input: spec.input, steps: spec.steps.filter((_, i) => i !== at) }));
}

/** Two neighbouring operations in the wrong order. */
export function swapped(spec: Spec): Spec[] {
  return spec.steps.slice(1).map((second, i) => {
    const steps = [...spec.steps];
    steps[i + 1] = steps[i] as Step;
    steps[i] = second;
    return { input: spec.input, steps };
  });
}

const kinds: Readonly<Record<MutationKind, (spec: Spec) => Spec[]>> = {
  off_by_one: offByOne,
  comparison: wrongComparison,
  confused,
  dropped,
  swapped,
};

/** Every one-mistake variant that is still well typed and returns the same type; whether it behaves differently is for the tests to say. */
export function mutations(spec: Spec): Mutation[] {
  const wanted = outputType(spec.input, spec.steps);
  const own = specKey(spec);
  return (Object.keys(kinds) as MutationKind[]).flatMap((kind) =>
    kinds[kind](spec)
      .filter((mutant) => outputType(mutant.input, mutant.steps) === wanted && specKey(mutant) !== own)
      .map((mutant) => ({ kind, spec: mutant })),
  );
}
