/**
 * The graphs of the engine: train and score (each for two layouts of the batch), prefill, decode. All take every parameter as an input under its Hugging Face key.
 *
 * Dimensions: T positions, B sequences, N = T·B, M selected rows, V vocabulary, L layers, D head size.
 * Sequences are padded on the right; causal masking keeps padding from reaching any position that counts.
 */
import { Graph, type Tensor } from '../graph/graph.js';
import {
  attention,
  entropy,
  fusedMatMul,
  logprob,
  mul,
  repeatHeads,
  reshape,
  rope,
  scale,
  selectRows,
  sharedPrefixAttention,
  sum,
} from '../graph/ops.js';
import type { DecoderConfig } from './config.js';
import { type Attend, declareWeights, hiddenStates, outputLogits, type Weights } from './decoder.js';
import { parameterTable } from './parameters.js';
import { ropeTables } from './rope.js';

export const gradientName = (parameter: string): string => `grad.${parameter}`;
export const keyName = (layer: number): string => `k.${layer}`;
export const valueName = (layer: number): string => `v.${layer}`;
export const prefixKeyName = (layer: number): string => `prefix_k.${layer}`;
export const prefixValueName = (layer: number): string => `prefix_v.${layer}`;
export const pastKeyName = (layer: number): string => `past_k.${layer}`;
export const pastValueName = (layer: number): string => `past_v.${layer}`;

/** Added to the score of a position that must not be seen: its probability underflows to exactly 0. */
export const MASKED = -1e9;

type OnKeyValue = (layer: number, k: Tensor, v: Tensor) => void;

/** How sequences lie in a batch: each whole, or tails that share the prefix before them. */
export type BatchLayout = 'whole' | 'shared';

const INT64 = { dtype: 'int64' } as const;

/** Dimension `axis` of x as an int64 vector of one element. */
function dimension(g: Graph, x: Tensor, axis: number): Tensor {
  return g.emit('Slice', [g.emit('Shape', [x], {}, INT64), g.ints([axis]), g.ints([axis + 1])]);
}

/** Additive mask [length, length]: 0 on and below the diagonal. */
function causalMask(g: Graph, length: Tensor): Tensor {
  const ones = g.emit('Expand', [g.floats(1), g.emit('Concat', [length, length], { axis: 0 })]);
  return g.emit('Mul', [g.emit('Trilu', [ones, g.ints(1)], { upper: 1 }), g.floats(MASKED)]);
}

/** Whole sequences: declares `ids` (int32 [T, B]) and gives the hidden states [N, C]. */
function wholeStates(g: Graph, config: DecoderConfig, weights: Weights, onKeyValue?: OnKeyValue): Tensor {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: headDim } = config;
  const ids = g.input('ids', 'int32', ['T', 'B']);
  const length = dimension(g, ids, 0);
  const batchHeads = g.emit('Mul', [dimension(g, ids, 1), g.ints([heads])]);
  const perHead = g.emit('Concat', [length, batchHeads, g.ints([headDim])], { axis: 0 });
  const mask = causalMask(g, length);
  const range = g.emit('Range', [g.ints(0), g.emit('Squeeze', [length]), g.ints(1)]);
  const grid = g.emit('Expand', [column(g, range), g.emit('Shape', [ids], {}, INT64)]);
  const tables = ropeTables(g, config, column(g, grid));

  const attend: Attend = (layer, q, k, v) => {
    const turned = rope(g, k, tables, kvHeads, headDim);
    onKeyValue?.(layer, turned, v);
    return attention(
      g,
      rope(g, q, tables, heads, headDim),
      repeatHeads(g, turned, kvHeads, heads, headDim),
      repeatHeads(g, v, kvHeads, heads, headDim),
      { perHead, mask, heads, headDim },
    );
  };
  return hiddenStates(g, config, weights, vector(g, ids), attend);
}

/**
 * Sequences that share prefixes: declares `prefix_ids` (int32 [P, prefixes]), `tail_ids` (int32 [T, prefixes·members]),
 * `padding_mask` (float32 [prefixes, 1, P]) and `positions` (int64 [N, 1]); gives the hidden states [N, C] of the
 * prefixes' rows, then the tails'. P ≥ 1: a prefix may be all padding, but not of length zero (see `decodeGraph`).
 */
function sharedStates(g: Graph, config: DecoderConfig, weights: Weights): Tensor {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: headDim } = config;
  const prefixIds = g.input('prefix_ids', 'int32', ['P', 'prefixes']);
  const tailIds = g.input('tail_ids', 'int32', ['T', 'tails']);
  const paddingMask = g.input('padding_mask', 'float32', ['prefixes', 1, 'P']);
  const tables = ropeTables(g, config, g.input('positions', 'int64', ['N', 1]));
  const prefixLength = dimension(g, prefixIds, 0);
  const prefixes = dimension(g, prefixIds, 1);
  const tailLength = dimension(g, tailIds, 0);
  const shapes = {
    heads,
    headDim,
    prefixLength,
    prefixes,
    members: g.emit('Div', [dimension(g, tailIds, 1), prefixes]),
    tailLength,
    prefixMask: causalMask(g, prefixLength),
    tailMask: causalMask(g, tailLength),
    paddingMask,
  };
  const attend: Attend = (_, q, k, v) =>
    sharedPrefixAttention(
      g,
      rope(g, q, tables, heads, headDim),
      repeatHeads(g, rope(g, k, tables, kvHeads, headDim), kvHeads, heads, headDim),
      repeatHeads(g, v, kvHeads, heads, headDim),
      shapes,
    );
  const ids = g.emit('Concat', [vector(g, prefixIds), vector(g, tailIds)], { axis: 0 });
  return hiddenStates(g, config, weights, ids, attend);
}

/**
 * Declares `rows` (int64 [M]: the distinct rows whose next token is a target) and `inverse_temperature` (scalar), and
 * gives the logits of those rows divided by the temperature, [M, V].
 */
function selectedLogits(g: Graph, config: DecoderConfig, weights: Weights, states: Tensor): Tensor {
  return temperedLogits(g, config, weights, selectRows(g, states, g.input('rows', 'int64', ['M'])));
}

/** At temperature 1 these are the logits bit for bit. */
function temperedLogits(g: Graph, config: DecoderConfig, weights: Weights, x: Tensor): Tensor {
  return scale(g, outputLogits(g, config, weights, x), g.input('inverse_temperature', 'float32', []));
}

const column = (g: Graph, x: Tensor): Tensor => reshape(g, x, g.ints([-1, 1]));
const vector = (g: Graph, x: Tensor): Tensor => reshape(g, x, g.ints([-1]));

/**
 * Inputs: those of the layout (`ids`, or see {@link sharedStates}), `rows` and `targets` (int64 [M]), `weights`
 * (float32 [M], ∂L/∂ln π), `inverse_temperature`.
 * Outputs `loss` = Σ weights·logp (scalar), `logp` [M], and `grad.<parameter>` for every parameter.
 */
export function trainGraph(config: DecoderConfig, layout: BatchLayout): Graph {
  const g = new Graph();
  const weights = declareWeights(g, config, true);
  const states = (layout === 'shared' ? sharedStates : wholeStates)(g, config, weights);
  const logits = selectedLogits(g, config, weights, states);
  const { chosen } = logprob(g, logits, column(g, g.input('targets', 'int64', ['M'])));
  const loss = sum(g, mul(g, chosen, column(g, g.input('weights', 'float32', ['M']))));
  const gradient = g.backward(loss);
  g.output(loss, 'loss', []);
  g.output(vector(g, chosen), 'logp', ['M']);
  for (const { name, shape } of parameterTable(config)) {
    const total = gradient(weights(name));
    if (total === undefined) throw new Error(`no gradient reaches ${name}`);
    g.output(total, gradientName(name), shape);
  }
  return g;
}

/** Inputs: those of the layout, `rows`, `targets`, `inverse_temperature`; outputs `logp` [M] and `entropy` [M] in nats. */
export function scoreGraph(config: DecoderConfig, layout: BatchLayout): Graph {
  const g = new Graph();
  const weights = declareWeights(g, config, false);
  const states = (layout === 'shared' ? sharedStates : wholeStates)(g, config, weights);
  const logits = selectedLogits(g, config, weights, states);
  const { all, chosen } = logprob(g, logits, column(g, g.input('targets', 'int64', ['M'])));
  g.output(vector(g, chosen), 'logp', ['M']);
  g.output(entropy(g, all), 'entropy', ['M']);
  return g;
}

/** `probs` [B, V] and `entropy` [B] of softmax(logits). */
function distribution(g: Graph, config: DecoderConfig, logits: Tensor): void {
  const logprobs = g.emit('LogSoftmax', [logits], { axis: -1 });
  // Probabilities, not logarithms: the sampler then takes one logarithm per token instead of V exponentials.
  g.output(g.emit('Exp', [logprobs]), 'probs', ['B', config.vocab_size]);
  g.output(entropy(g, logprobs), 'entropy', ['B']);
}

/**
 * Inputs `ids`, `rows` ([B], the last position of each prompt), `inverse_temperature`.
 * Outputs `k.<layer>` and `v.<layer>` [N, kvHeads·D], `probs` [B, V], `entropy` [B].
 */
export function prefillGraph(config: DecoderConfig): Graph {
  const g = new Graph();
  const weights = declareWeights(g, config, false);
  const width = config.num_key_value_heads * config.head_dim;
  const states = wholeStates(g, config, weights, (layer, k, v) => {
    g.output(k, keyName(layer), ['N', width]);
    g.output(v, valueName(layer), ['N', width]);
  });
  distribution(g, config, selectedLogits(g, config, weights, states));
  return g;
}

/**
 * One token for each sequence of a batch in which several sequences continue one prompt.
 *
 * Sequences lie in slots: B = groups·members, the members of a group adjacent. The cache has two parts, both time-major:
 * the prompts without their last token, one row a group, padded on the right to P ≥ 1; and the t ≥ 1 tokens after them,
 * one row a slot. So the keys of a prompt are read once for all who continue it.
 *
 * Inputs `ids` (int32 [B]), `positions` (int64 [B, 1]), `padding_mask` (float32 [groups, 1, P]), `inverse_temperature`,
 * `prefix_k.<layer>`, `prefix_v.<layer>` [P, groups·kvHeads, D], `past_k.<layer>`, `past_v.<layer>` [t, B·kvHeads, D].
 * Outputs `k.<layer>`, `v.<layer>` [B, kvHeads·D], `probs` [B, V], `entropy` [B].
 *
 * Only the new rows of the cache come out: ONNX Runtime copies every output, preallocated or not, so that returning
 * the cache itself costs several times the step. P and t are at least 1: a zero-length dimension in `FusedMatMul` kills
 * the process (SIGFPE).
 */
export function decodeGraph(config: DecoderConfig): Graph {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: headDim } = config;
  const share = heads / kvHeads;
  const width = kvHeads * headDim;
  const g = new Graph();
  const weights = declareWeights(g, config, false);
  const ids = g.input('ids', 'int32', ['B']);
  const tables = ropeTables(g, config, g.input('positions', 'int64', ['B', 1]));
  const paddingMask = g.input('padding_mask', 'float32', ['groups', 1, 'P']);
  const scale = g.floats(1 / Math.sqrt(headDim));

  const concat = (...parts: Tensor[]): Tensor => g.emit('Concat', parts, { axis: 0 });
  const groups = dimension(g, paddingMask, 0);
  const prefixLength = dimension(g, paddingMask, 2);
  const members = g.emit('Div', [dimension(g, ids, 0), groups]);
  const groupHeads = g.emit('Mul', [groups, g.ints([kvHeads])]);
  const rest = g.ints([-1]);
  const end = g.ints([2 ** 31 - 1]);
  const columns = (x: Tensor, from: Tensor, to: Tensor): Tensor => g.emit('Slice', [x, from, to, g.ints([2])]);
  // Query heads that share a key/value head are rows of one product, and so are the members of a group in the product
  // with their prompt. The two orders of [B·heads, X]: by slot (group, member, kvHead, share) and by group (group,
  // kvHead, member, share).
  const slotOrder = concat(groups, members, g.ints([kvHeads, share]), rest);
  const groupOrder = concat(groups, g.ints([kvHeads]), members, g.ints([share]), rest);
  const swap = (x: Tensor): Tensor => g.emit('Transpose', [x], { perm: [0, 2, 1, 3, 4] });
  const byGroup = (x: Tensor): Tensor =>
    reshape(g, swap(reshape(g, x, slotOrder)), concat(groupHeads, g.emit('Mul', [members, g.ints([share])]), rest));
  const bySlot = (x: Tensor): Tensor => reshape(g, swap(reshape(g, x, groupOrder)), g.ints([-1, share, headDim]));

  const attend: Attend = (layer, q, k, v) => {
    const past = (name: string, length: string, rows: string): Tensor =>
      g.input(name, 'float32', [length, rows, headDim]);
    const prefixK = past(prefixKeyName(layer), 'P', 'groupHeads');
    const prefixV = past(prefixValueName(layer), 'P', 'groupHeads');
    const pastK = past(pastKeyName(layer), 't', 'slotHeads');
    const pastV = past(pastValueName(layer), 't', 'slotHeads');
    const turned = rope(g, k, tables, kvHeads, headDim);
    g.output(turned, keyName(layer), ['B', width]);
    g.output(v, valueName(layer), ['B', width]);

    // The scale goes into q so that the products have alpha = 1, which the fast kernel for few rows requires.
    const q3 = g.emit('Mul', [reshape(g, rope(g, q, tables, heads, headDim), g.ints([-1, share, headDim])), scale]);
    const k3 = reshape(g, turned, g.ints([-1, 1, headDim]));
    const v3 = reshape(g, v, g.ints([-1, 1, headDim]));
    const toPrefix = fusedMatMul(g, byGroup(q3), prefixK, { transBatchB: 1, transB: 1 });
    const masked = g.emit('Add', [reshape(g, toPrefix, concat(groups, rest, prefixLength)), paddingMask]);
    const toPast = fusedMatMul(g, q3, pastK, { transBatchB: 1, transB: 1 });
    const toSelf = g.emit('ReduceSum', [g.emit('Mul', [q3, k3]), g.ints([-1])], { keepdims: 1 });
    const own = byGroup(g.emit('Concat', [toPast, toSelf], { axis: -1 }));
    const scores = [reshape(g, masked, g.emit('Shape', [toPrefix], {}, INT64)), own];
    const p = g.emit('Softmax', [g.emit('Concat', scores, { axis: -1 })], { axis: -1 });

    const fromPrefix = fusedMatMul(g, columns(p, g.ints([0]), prefixLength), prefixV, { transBatchB: 1 });
    const pOwn = swap(reshape(g, columns(p, prefixLength, end), groupOrder));
    const pSlots = reshape(g, pOwn, concat(rest, g.ints([share]), dimension(g, pOwn, 4)));
    const fromPast = fusedMatMul(g, columns(pSlots, g.ints([0]), g.ints([-1])), pastV, { transBatchB: 1 });
    const fromSelf = g.emit('Mul', [columns(pSlots, g.ints([-1]), end), v3]);
    return reshape(g, g.emit('Sum', [bySlot(fromPrefix), fromPast, fromSelf]), g.ints([-1, heads * headDim]));
  };
  distribution(g, config, temperedLogits(g, config, weights, hiddenStates(g, config, weights, ids, attend)));
  return g;
}
