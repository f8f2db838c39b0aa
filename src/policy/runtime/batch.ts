import { HoneError } from '../../core/error.js';
import type { Sequence } from '../../core/policy.js';
import type { DecoderConfig } from '../model/config.js';
import { type BatchLayout, MASKED } from '../model/graphs.js';

/** One sequence as the graphs see it: which positions feed the head, and what they predict. */
export interface PackItem {
  /** Position in the caller's list. */
  readonly index: number;
  /** Ids that are read; the last target is not among them. */
  readonly inputs: readonly number[];
  readonly promptLength: number;
  /** Position whose next token is target i. */
  readonly positions: readonly number[];
  readonly targets: readonly number[];
  /** ∂L/∂ln π of target i. */
  readonly weights: readonly number[];
}

export type FeedData =
  | { readonly type: 'int32'; readonly shape: readonly number[]; readonly data: Int32Array }
  | { readonly type: 'int64'; readonly shape: readonly number[]; readonly data: BigInt64Array }
  | { readonly type: 'float32'; readonly shape: readonly number[]; readonly data: Float32Array };

/** Several sequences in one run of a train or score graph. */
export interface MicroBatch {
  readonly layout: BatchLayout;
  /** The targets of the graph are those of these items, one item after the other. */
  readonly items: readonly PackItem[];
  /** Tokens computed, padding included. */
  readonly padded: number;
  /** Targets. */
  readonly count: number;
  readonly feeds: Readonly<Record<string, FeedData>>;
}

/** Errors: `bad_sequence`, naming the sequence and what is wrong with it. */
export function checkSequence(config: DecoderConfig, sequence: Sequence, index: number): void {
  const refuse = (what: string): never => {
    throw new HoneError('bad_sequence', `sequence ${index}: ${what}`, 'Encode it with the tokenizer of this policy.');
  };
  const { promptIds, completionIds } = sequence;
  if (promptIds.length === 0) refuse('the prompt is empty');
  // The last id is predicted but never read, so it needs no position.
  const length = promptIds.length + Math.max(0, completionIds.length - 1);
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
  const inputs = [...promptIds, ...completionIds].slice(0, read);
  return { index, inputs, promptLength: promptIds.length, positions, targets, weights };
}

/**
 * Groups items into batches of at most `maxTokens` padded tokens (what is longer goes alone), in the layout that
 * computes fewer tokens. A function of the items alone, so that gradients add up in the same order every time.
 */
export function packBatches(items: readonly PackItem[], maxTokens: number): MicroBatch[] {
  const used = items.filter((item) => item.targets.length > 0);
  const whole = packWhole(used, maxTokens);
  const shared = packShared(used, maxTokens);
  const cost = (batches: readonly MicroBatch[]): number => batches.reduce((total, { padded }) => total + padded, 0);
  // Shared attention moves more data per token, so it must save something to be worth it.
  return cost(shared) < 0.9 * cost(whole) ? shared : whole;
}

/** Fills batches greedily: a batch ends where `costOf` it and the next element would exceed `limit`. */
function greedily<E>(elements: readonly E[], limit: number, costOf: (batch: readonly E[]) => number): E[][] {
  const batches: E[][] = [];
  let batch: E[] = [];
  for (const element of elements) {
    if (batch.length > 0 && costOf([...batch, element]) > limit) {
      batches.push(batch);
      batch = [];
    }
    batch.push(element);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

const longest = (lists: readonly (readonly number[])[]): number => Math.max(...lists.map((list) => list.length));

/** Whole sequences, padded on the right to one length. */
export function packWhole(items: readonly PackItem[], maxTokens: number): MicroBatch[] {
  const sorted = [...items].sort((a, b) => b.inputs.length - a.inputs.length || a.index - b.index);
  const costOf = (batch: readonly PackItem[]): number => longest(batch.map((item) => item.inputs)) * batch.length;
  return greedily(sorted, maxTokens, costOf).map((batch) => {
    const ids = timeMajor(batch.map((item) => item.inputs));
    return {
      layout: 'whole',
      items: batch,
      padded: ids.data.length,
      feeds: { ids, ...targetFeeds(batch, (b, t) => t * batch.length + b) },
      count: batch.reduce((total, item) => total + item.targets.length, 0),
    };
  });
}

/** Items with one prompt. The prefix is the prompt but for its last token, which begins each tail. */
interface PrefixGroup {
  readonly prefix: readonly number[];
  readonly members: readonly PackItem[];
  readonly tailLength: number;
}

const tailOf = (item: PackItem): readonly number[] => item.inputs.slice(item.promptLength - 1);

/**
 * Sequences that share their prompt's prefix. The tail begins with the last prompt token, so that every target has a
 * row of its own.
 */
export function packShared(items: readonly PackItem[], maxTokens: number): MicroBatch[] {
  const groups = prefixGroups(items, maxTokens).sort(
    (a, b) =>
      b.members.length - a.members.length ||
      b.tailLength - a.tailLength ||
      b.prefix.length - a.prefix.length ||
      (a.members[0]?.index ?? 0) - (b.members[0]?.index ?? 0),
  );
  const costOf = (batch: readonly PrefixGroup[]): number => {
    const members = Math.max(...batch.map((group) => group.members.length));
    const tail = Math.max(...batch.map((group) => group.tailLength));
    return batch.length * (Math.max(1, longest(batch.map((group) => group.prefix))) + members * tail);
  };
  return greedily(groups, maxTokens, costOf).map(sharedBatch);
}

function prefixGroups(items: readonly PackItem[], maxTokens: number): PrefixGroup[] {
  const byPrompt = new Map<string, PackItem[]>();
  for (const item of items) {
    const key = item.inputs.slice(0, item.promptLength).join();
    const list = byPrompt.get(key);
    if (list === undefined) byPrompt.set(key, [item]);
    else list.push(item);
  }
  return [...byPrompt.values()].flatMap((all) => {
    // Tails of similar length stay together where a group must be cut.
    const sorted = [...all].sort((a, b) => b.inputs.length - a.inputs.length || a.index - b.index);
    const costOf = (list: readonly PackItem[]): number =>
      (list[0]?.promptLength ?? 0) + longest(list.map(tailOf)) * list.length;
    return greedily(sorted, maxTokens, costOf).map((members) => {
      const prefix = members[0]?.inputs.slice(0, members[0].promptLength - 1) ?? [];
      return { prefix, members, tailLength: longest(members.map(tailOf)) };
    });
  });
}

function sharedBatch(groups: readonly PrefixGroup[]): MicroBatch {
  const members = Math.max(...groups.map((group) => group.members.length));
  const prefixIds = timeMajor(groups.map((group) => group.prefix));
  const [prefixLength = 1] = prefixIds.shape;
  // Absent members are tails of padding alone.
  const slots = groups.flatMap((group) => Array.from({ length: members }, (_, j) => group.members[j]));
  const tailIds = timeMajor(slots.map((item) => (item === undefined ? [] : tailOf(item))));
  const [tailLength = 1] = tailIds.shape;

  const prefixRows = prefixLength * groups.length;
  const positions = new BigInt64Array(prefixRows + tailIds.data.length);
  for (let row = 0; row < prefixRows; row++) positions[row] = BigInt(Math.floor(row / groups.length));
  for (let t = 0; t < tailLength; t++) {
    slots.forEach((item, slot) => {
      // Padding takes position 0, for it must stay within the rotary table.
      const at = item === undefined || t >= tailOf(item).length ? 0 : item.promptLength - 1 + t;
      positions[prefixRows + t * slots.length + slot] = BigInt(at);
    });
  }
  const mask = new Float32Array(groups.length * prefixLength);
  groups.forEach(({ prefix }, p) => {
    mask.fill(MASKED, p * prefixLength + prefix.length, (p + 1) * prefixLength);
  });
  const items = groups.flatMap((group) => group.members);
  const slotOf = new Map(slots.map((item, slot) => [item, slot]));
  const rowOf = (i: number, position: number): number => {
    const item = items[i];
    const t = position - ((item?.promptLength ?? 1) - 1);
    return prefixRows + t * slots.length + (slotOf.get(item) ?? 0);
  };
  return {
    layout: 'shared',
    items,
    padded: prefixRows + tailIds.data.length,
    count: items.reduce((total, item) => total + item.targets.length, 0),
    feeds: {
      prefix_ids: prefixIds,
      tail_ids: tailIds,
      padding_mask: { type: 'float32', shape: [groups.length, 1, prefixLength], data: mask },
      positions: { type: 'int64', shape: [positions.length, 1], data: positions },
      ...targetFeeds(items, rowOf),
    },
  };
}

/** Lists of ids as [T, B], padded on the right with 0; T ≥ 1. */
export function timeMajor(lists: readonly (readonly number[])[]): FeedData & { readonly type: 'int32' } {
  const length = Math.max(1, longest(lists));
  const data = new Int32Array(length * lists.length);
  lists.forEach((list, b) => {
    list.forEach((id, t) => {
      data[t * lists.length + b] = id;
    });
  });
  return { type: 'int32', shape: [length, lists.length], data };
}

/** `rows`, `targets` and `weights`; `rowOf` gives the row of item i at a position. */
function targetFeeds(
  items: readonly PackItem[],
  rowOf: (item: number, position: number) => number,
): Record<'rows' | 'targets' | 'weights', FeedData> {
  const rows = items.flatMap((item, i) => item.positions.map((position) => BigInt(rowOf(i, position))));
  const targets = items.flatMap((item) => item.targets.map(BigInt));
  const shape = [rows.length];
  return {
    rows: { type: 'int64', shape, data: BigInt64Array.from(rows) },
    targets: { type: 'int64', shape, data: BigInt64Array.from(targets) },
    weights: { type: 'float32', shape, data: Float32Array.from(items.flatMap((item) => item.weights)) },
  };
}
