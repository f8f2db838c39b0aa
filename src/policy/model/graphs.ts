/**
 * The four graphs of the engine. All take every parameter as an input under its Hugging Face key.
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
  selectRows,
  sum,
} from '../graph/ops.js';
import type { DecoderConfig } from './config.js';
import { type Attend, declareWeights, hiddenStates, outputLogits, type Weights } from './decoder.js';
import { parameterTable } from './parameters.js';
import { ropeTables } from './rope.js';

export const gradientName = (parameter: string): string => `grad.${parameter}`;
export const keyName = (layer: number): string => `k.${layer}`;
export const valueName = (layer: number): string => `v.${layer}`;
export const pastKeyName = (layer: number): string => `past_k.${layer}`;
export const pastValueName = (layer: number): string => `past_v.${layer}`;

/** Added to the score of a position that must not be seen: its probability underflows to exactly 0. */
export const MASKED = -1e9;

type OnKeyValue = (layer: number, k: Tensor, v: Tensor) => void;

/** Whole sequences: declares `ids` (int32 [T, B]) and gives the hidden states [N, C]. */
function sequenceStates(g: Graph, config: DecoderConfig, weights: Weights, onKeyValue?: OnKeyValue): Tensor {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: headDim } = config;
  const ids = g.input('ids', 'int32', ['T', 'B']);
  const shape = g.emit('Shape', [ids], {}, { dtype: 'int64' });
  const length = g.emit('Slice', [shape, g.ints([0]), g.ints([1])]);
  const batch = g.emit('Slice', [shape, g.ints([1]), g.ints([2])]);
  const perHead = g.emit('Concat', [length, g.emit('Mul', [batch, g.ints([heads])]), g.ints([headDim])], { axis: 0 });
  const square = g.emit('Concat', [length, length], { axis: 0 });
  const ones = g.emit('Expand', [g.floats(1), square]);
  const mask = g.emit('Mul', [g.emit('Trilu', [ones, g.ints(1)], { upper: 1 }), g.floats(MASKED)]);
  const range = g.emit('Range', [g.ints(0), g.emit('Squeeze', [length]), g.ints(1)]);
  const positions = reshape(g, g.emit('Expand', [reshape(g, range, g.ints([-1, 1])), shape]), g.ints([-1, 1]));
  const tables = ropeTables(g, config, positions);

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
  return hiddenStates(g, config, weights, reshape(g, ids, g.ints([-1])), attend);
}

/** Declares `rows` (int64 [M]: t·B + b of each position whose next token is a target) and gives their logits [M, V]. */
function selectedLogits(g: Graph, config: DecoderConfig, weights: Weights, states: Tensor): Tensor {
  return outputLogits(g, config, weights, selectRows(g, states, g.input('rows', 'int64', ['M'])));
}

const column = (g: Graph, x: Tensor): Tensor => reshape(g, x, g.ints([-1, 1]));
const vector = (g: Graph, x: Tensor): Tensor => reshape(g, x, g.ints([-1]));

/**
 * Inputs `ids`, `rows`, `targets` (int64 [M]), `weights` (float32 [M], ∂L/∂ln π).
 * Outputs `loss` = Σ weights·logp (scalar), `logp` [M], and `grad.<parameter>` for every parameter.
 */
export function trainGraph(config: DecoderConfig): Graph {
  const g = new Graph();
  const weights = declareWeights(g, config, true);
  const logits = selectedLogits(g, config, weights, sequenceStates(g, config, weights));
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

/** Inputs `ids`, `rows`, `targets`; outputs `logp` [M] and `entropy` [M] in nats. */
export function scoreGraph(config: DecoderConfig): Graph {
  const g = new Graph();
  const weights = declareWeights(g, config, false);
  const logits = selectedLogits(g, config, weights, sequenceStates(g, config, weights));
  const { all, chosen } = logprob(g, logits, column(g, g.input('targets', 'int64', ['M'])));
  g.output(vector(g, chosen), 'logp', ['M']);
  g.output(entropy(g, all), 'entropy', ['M']);
  return g;
}

/** `probs` [B, V] and `entropy` [B] of softmax(logits · inverse_temperature); declares that scalar input. */
function distribution(g: Graph, config: DecoderConfig, logits: Tensor): void {
  const scaled = g.emit('Mul', [logits, g.input('inverse_temperature', 'float32', [])]);
  const logprobs = g.emit('LogSoftmax', [scaled], { axis: -1 });
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
  const states = sequenceStates(g, config, weights, (layer, k, v) => {
    g.output(k, keyName(layer), ['N', width]);
    g.output(v, valueName(layer), ['N', width]);
  });
  distribution(g, config, selectedLogits(g, config, weights, states));
  return g;
}

/**
 * One token for each sequence of the batch.
 * Inputs `ids` (int32 [B]), `positions` (int64 [B, 1]), `mask` (float32 [B, 1, t + 1], the last column for the current
 * token), `inverse_temperature`, and `past_k.<layer>`, `past_v.<layer>` [t, B·kvHeads, D].
 * Outputs `k.<layer>`, `v.<layer>` [B, kvHeads·D], `probs` [B, V], `entropy` [B].
 *
 * Only the new rows of the cache come out: ONNX Runtime copies every output, preallocated or not, so that returning
 * the cache itself costs several times the step. t ≥ 1 always: a zero-length dimension in `FusedMatMul` kills the
 * process (SIGFPE).
 */
export function decodeGraph(config: DecoderConfig): Graph {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: headDim } = config;
  const share = heads / kvHeads;
  const width = kvHeads * headDim;
  const g = new Graph();
  const weights = declareWeights(g, config, false);
  const ids = g.input('ids', 'int32', ['B']);
  const tables = ropeTables(g, config, g.input('positions', 'int64', ['B', 1]));
  const mask = g.input('mask', 'float32', ['B', 1, 't1']);
  const scale = g.floats(1 / Math.sqrt(headDim));

  const attend: Attend = (layer, q, k, v) => {
    const pastK = g.input(pastKeyName(layer), 'float32', ['t', 'BH', headDim]);
    const pastV = g.input(pastValueName(layer), 'float32', ['t', 'BH', headDim]);
    const turned = rope(g, k, tables, kvHeads, headDim);
    g.output(turned, keyName(layer), ['B', width]);
    g.output(v, valueName(layer), ['B', width]);
    // Query heads that share a key/value head become the rows of one product: [B·kvHeads, share, D]. The scale goes
    // into q so that the product has alpha = 1, which the fast kernel for few rows requires.
    const q3 = g.emit('Mul', [reshape(g, rope(g, q, tables, heads, headDim), g.ints([-1, share, headDim])), scale]);
    const k3 = reshape(g, turned, g.ints([-1, 1, headDim]));
    const v3 = reshape(g, v, g.ints([-1, 1, headDim]));
    const past = fusedMatMul(g, q3, pastK, { transBatchB: 1, transB: 1 });
    const current = g.emit('ReduceSum', [g.emit('Mul', [q3, k3]), g.ints([-1])], { keepdims: 1 });
    const scores = g.emit('Concat', [past, current], { axis: -1 });
    const shape = g.emit('Shape', [scores], {}, { dtype: 'int64' });
    const columns = g.emit('Slice', [shape, g.ints([2]), g.ints([3])]);
    const perSequence = g.emit('Concat', [g.ints([-1, heads]), columns], { axis: 0 });
    const masked = g.emit('Add', [reshape(g, scores, perSequence), mask]);
    const p = reshape(g, g.emit('Softmax', [masked], { axis: -1 }), shape);
    const pPast = g.emit('Slice', [p, g.ints([0]), g.ints([-1]), g.ints([2])]);
    const pCurrent = g.emit('Slice', [p, g.ints([-1]), g.ints([2 ** 31 - 1]), g.ints([2])]);
    const mixed = g.emit('Add', [fusedMatMul(g, pPast, pastV, { transBatchB: 1 }), g.emit('Mul', [pCurrent, v3])]);
    return reshape(g, mixed, g.ints([-1, heads * headDim]));
  };
  distribution(g, config, outputLogits(g, config, weights, hiddenStates(g, config, weights, ids, attend)));
  return g;
}
