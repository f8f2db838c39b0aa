import type { Stream } from '../core/seeds.js';
import { familyOf, type OpName, ops, opsFrom } from './ops.js';
import type { Spec, Step, Type } from './spec.js';

/** Input types in proportion to how often they are drawn. */
const inputs: readonly Type[] = [
  ...Array<Type>(9).fill('ints'),
  ...Array<Type>(4).fill('str'),
  ...Array<Type>(3).fill('int'),
  ...Array<Type>(3).fill('strs'),
  ...Array<Type>(1).fill('dict'),
];

const middle = new Map<Type, readonly OpName[]>();
for (const type of new Set(inputs)) {
  middle.set(
    type,
    opsFrom(type).filter((name) => ops[name].to !== 'bool'),
  );
}

/**
 * A random well-typed pipeline of `length` operations. Booleans only come last, and no family of operations occurs
 * twice (adding 3 and then 4 is adding 7).
 */
export function drawSpec(random: Stream, length: number): Spec {
  for (;;) {
    const input = random.pick(inputs);
    const steps: Step[] = [];
    const used = new Set<string>();
    let type = input;
    while (steps.length < length) {
      const last = steps.length === length - 1;
      const choices = (last ? opsFrom(type) : (middle.get(type) ?? [])).filter((name) => !used.has(familyOf(name)));
      if (choices.length === 0) break;
      const name = random.pick(choices);
      const op = ops[name];
      steps.push(op.constants.length === 0 ? { op: name } : { op: name, k: random.pick(op.constants) });
      used.add(familyOf(name));
      type = op.to;
    }
    if (steps.length === length) return { input, steps };
  }
}
