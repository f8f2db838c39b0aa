import { stream } from '../core/seeds.js';
import { familyOf } from './ops.js';
import type { Spec } from './spec.js';

export type Split = 'train' | 'validation' | 'heldout';

const HELDOUT_SHARE = 0.15;
const VALIDATION_SHARE = 0.05;

/**
 * What the split of a spec depends on: which families of operations it composes. Neither constants, nor names, nor
 * the order of operations (which often commute) can move a task to another split.
 */
export function splitKey(spec: Spec): string {
  return [...new Set(spec.steps.map(({ op }) => familyOf(op)))].sort().join('+');
}

const known = new Map<string, Split>();

/** The split that a spec belongs to, independent of any seed. Every single operation is in `train`. */
export function splitOf(spec: Spec): Split {
  const key = splitKey(spec);
  if (!key.includes('+')) return 'train';
  let split = known.get(key);
  if (split === undefined) {
    const u = stream(0, 'split', key).next();
    split = u < HELDOUT_SHARE ? 'heldout' : u < HELDOUT_SHARE + VALIDATION_SHARE ? 'validation' : 'train';
    if (known.size < 200_000) known.set(key, split);
  }
  return split;
}
