import { HoneError } from '../../core/error.js';
import type { Sequence } from '../../core/policy.js';
import type { DecoderConfig } from '../model/config.js';

/** One sequence as the graphs see it: which positions feed the head, and what they predict. */
export interface PackItem {
  /** Position in the caller's list. */
  readonly index: number;
  /** Ids that are read; the last target is not among them. */
  readonly inputs: readonly number[];
  /** Position whose next token is target i. */
  readonly positions: readonly number[];
  readonly targets: readonly number[];
  /** ∂L/∂ln π of target i. */
  readonly weights: readonly number[];
}

/** Several sequences padded on the right to one length, time-major. */
export interface MicroBatch {
  readonly items: readonly PackItem[];
  readonly length: number;
  readonly batch: number;
  /** [T, B]. */
  readonly ids: Int32Array;
  /** [M] each, item after item. */
  readonly rows: BigInt64Array;
  readonly targets: BigInt64Array;
  readonly weights: Float32Array;
}

/** Errors: `bad_sequence`, naming the sequence and what is wrong with it. */
export function checkSequence(config: DecoderConfig, sequence: Sequence, index: number): void {
  const refuse = (what: string): never => {
    throw new HoneError('bad_sequence', `sequence ${index}: ${what}`, 'Encode it with the tokenizer of this policy.');
  };
  const { promptIds, completionIds } = sequence;
  if (promptIds.length === 0) refuse('the prompt is empty');
  // The last id is predicted but never read, so it needs no position.
  const length = promptIds.length + completionIds.length - 1;
  if (length > config.max_position_embeddings) {
    refuse(`${length} ids do not fit into the context of ${config.max_position_embeddings}`);
  }
  for (const ids of [promptIds, completionIds]) {
    for (const id of ids) {
      if (!(Number.isInteger(id) && id >= 0 && id < config.vocab_size)) {
        refuse(`id ${id} is outside the vocabulary of ${config.vocab_size}`);
      }
    }
  }
}

/** The part of a sequence that its targets depend on; targets of weight 0 are left out. */
export function packItem(sequence: Sequence, index: number, gradients?: Float32Array): PackItem {
  const { promptIds, completionIds } = sequence;
  const positions: number[] = [];
  const targets: number[] = [];
  const weights: number[] = [];
  completionIds.forEach((id, i) => {
    const weight = gradients === undefined ? 1 : (gradients[i] ?? 0);
    if (weight === 0) return;
    positions.push(promptIds.length - 1 + i);
    targets.push(id);
    weights.push(weight);
  });
  const read = (positions.at(-1) ?? -1) + 1;
  return { index, inputs: [...promptIds, ...completionIds].slice(0, read), positions, targets, weights };
}

/**
 * Groups items of similar length, at most `maxTokens` padded tokens a batch (an item longer than that goes alone).
 * The grouping is a function of the items alone, so that gradients add up in the same order every time.
 */
export function packBatches(items: readonly PackItem[], maxTokens: number): MicroBatch[] {
  const sorted = items
    .filter((item) => item.targets.length > 0)
    .sort((a, b) => b.inputs.length - a.inputs.length || a.index - b.index);
  const batches: MicroBatch[] = [];
  let group: PackItem[] = [];
  for (const item of sorted) {
    // Longest first: the first member fixes the padded length.
    const length = group[0]?.inputs.length ?? item.inputs.length;
    if (group.length > 0 && length * (group.length + 1) > maxTokens) {
      batches.push(padBatch(group));
      group = [];
    }
    group.push(item);
  }
  if (group.length > 0) batches.push(padBatch(group));
  return batches;
}

function padBatch(items: readonly PackItem[]): MicroBatch {
  const batch = items.length;
  const length = Math.max(...items.map((item) => item.inputs.length));
  const count = items.reduce((total, item) => total + item.targets.length, 0);
  const ids = new Int32Array(length * batch);
  const rows = new BigInt64Array(count);
  const targets = new BigInt64Array(count);
  const weights = new Float32Array(count);
  let at = 0;
  items.forEach((item, b) => {
    item.inputs.forEach((id, t) => {
      ids[t * batch + b] = id;
    });
    item.targets.forEach((target, i) => {
      rows[at] = BigInt((item.positions[i] ?? 0) * batch + b);
      targets[at] = BigInt(target);
      weights[at] = item.weights[i] ?? 0;
      at++;
    });
  });
  return { items, length, batch, ids, rows, targets, weights };
}
