/**
 * Differentiable operators. Each emits its forward nodes and records how its gradient is emitted.
 *
 * Activations are time-major and flat: row t·B + b of an [N, C] matrix is position t of sequence b. Then q, k and v turn
 * into [T, B·heads, D] by a reshape alone, and `FusedMatMul` reads that layout without a transpose.
 *
 * Determinism: every emitted operator must give the same bits for the same inputs and thread count. So no gradient uses
 * `ScatterND(reduction=add)` with repeated indexes (ONNX Runtime runs its updates in parallel, without atomics);
 * `ScatterElements` runs them in order on one thread.
 */
import type { Attributes } from '../onnx/proto.js';
import type { Graph, Tensor } from './graph.js';

const MS = { domain: 'com.microsoft' } as const;

const isLive = (t: Tensor): boolean => t.differentiable;

export function reshape(g: Graph, x: Tensor, shape: Tensor): Tensor {
  return g.emit('Reshape', [x, shape]);
}

export function fusedMatMul(g: Graph, a: Tensor, b: Tensor, attributes: Attributes): Tensor {
  return g.emit('FusedMatMul', [a, b], attributes, MS);
}

/** x + y, equal shapes. */
export function add(g: Graph, x: Tensor, y: Tensor): Tensor {
  return g.record(g.emit('Add', [x, y]), [x, y], (d) => [d, d]);
}

/** x · y elementwise, equal shapes. */
export function mul(g: Graph, x: Tensor, y: Tensor): Tensor {
  return g.record(g.emit('Mul', [x, y]), [x, y], (d) => [
    isLive(x) ? g.emit('Mul', [d, y]) : undefined,
    isLive(y) ? g.emit('Mul', [d, x]) : undefined,
  ]);
}

/** Sum of all elements, a scalar. */
export function sum(g: Graph, x: Tensor): Tensor {
  return g.record(g.emit('ReduceSum', [x], { keepdims: 0 }), [x], (d) => [
    g.emit('Expand', [d, g.emit('Shape', [x], {}, { dtype: 'int64' })]),
  ]);
}

/** x Wᵀ for x [N, K] and W [M, K] (rows are outputs, as Hugging Face stores them). */
export function linear(g: Graph, x: Tensor, w: Tensor): Tensor {
  return g.record(g.emit('Gemm', [x, w], { transB: 1 }), [x, w], (d) => [
    isLive(x) ? g.emit('Gemm', [d, w]) : undefined,
    isLive(w) ? g.emit('Gemm', [d, x], { transA: 1 }) : undefined,
  ]);
}

/** Rows `ids` [N] (int32 or int64, repeats allowed) of the table [V, C]. */
export function embed(g: Graph, table: Tensor, ids: Tensor, width: number): Tensor {
  return g.record(g.emit('Gather', [table, ids], { axis: 0 }), [table], (d) => [
    {
      into: (base) => {
        const column = g.emit('Cast', [reshape(g, ids, g.ints([-1, 1]))], { to: 7 }, { dtype: 'int64' });
        const indexes = g.emit('Expand', [column, g.ints([1, width])]);
        const target = base ?? g.emit('Mul', [table, g.floats(0)]);
        return g.emit('ScatterElements', [target, indexes, d], { axis: 0, reduction: 'add' });
      },
    },
  ]);
}

/**
 * Rows `rows` (int64 [M], distinct) of x [N, C]; the other rows receive no gradient.
 * Taken before the output head, it spares prompt and padding positions the softmax over the vocabulary.
 */
export function selectRows(g: Graph, x: Tensor, rows: Tensor): Tensor {
  return g.record(g.emit('Gather', [x, rows], { axis: 0 }), [x], (d) => [
    {
      into: (base) => {
        if (base !== undefined) throw new Error('selectRows must be the only use of its input');
        const zeros = g.emit('Mul', [x, g.floats(0)]);
        // Distinct rows, so plain ScatterND has one writer per row.
        return g.emit('ScatterND', [zeros, reshape(g, rows, g.ints([-1, 1])), d]);
      },
    },
  ]);
}

/** Root-mean-square norm over the last axis with gain w [C] (Zhang & Sennrich 2019), x [N, C]. */
export function rmsNorm(g: Graph, x: Tensor, w: Tensor, epsilon: number): Tensor {
  // The second output is 1/rms, [N, 1]; it spares the backward pass a reduction. (The WebGPU provider of ONNX Runtime
  // 1.30 leaves it unwritten: compose the norm from basic operators there.)
  const [y, inverseRms] = g.emitPair('SimplifiedLayerNormalization', [x, w], {
    axis: -1,
    epsilon: { float: epsilon },
    stash_type: 1,
  });
  return g.record(y, [x, w], (d) => {
    const unit = g.emit('Mul', [x, inverseRms]);
    const dUnit = g.emit('Mul', [d, unit]);
    const dw = isLive(w) ? g.emit('ReduceSum', [dUnit, g.ints([0])], { keepdims: 0 }) : undefined;
    const mean = g.emit('ReduceMean', [g.emit('Mul', [dUnit, w]), g.ints([-1])], { keepdims: 1 });
    const centred = g.emit('Sub', [g.emit('Mul', [d, w]), g.emit('Mul', [unit, mean])]);
    return [isLive(x) ? g.emit('Mul', [centred, inverseRms]) : undefined, dw];
  });
}

export interface RopeTables {
  /** int64 [N, 1]: the position of each row. */
  readonly positions: Tensor;
  /** [positions, D/2]. */
  readonly cos: Tensor;
  readonly sin: Tensor;
  readonly negativeSin: Tensor;
}

/** Rotary position embedding (Su et al. 2021, half-split as in Llama) of x [N, heads·D]. */
export function rope(g: Graph, x: Tensor, tables: RopeTables, heads: number, headDim: number): Tensor {
  // Fed as [N, 1, C] with positions [N, 1]: the operator's sequence axis must not exceed the table's length.
  const rotate = (v: Tensor, sin: Tensor): Tensor => {
    const rows = reshape(g, v, g.ints([-1, 1, heads * headDim]));
    const turned = g.emit(
      'RotaryEmbedding',
      [rows, tables.positions, tables.cos, sin],
      { num_heads: heads, rotary_embedding_dim: 0 },
      MS,
    );
    return reshape(g, turned, g.ints([-1, heads * headDim]));
  };
  return g.record(rotate(x, tables.sin), [x], (d) => [rotate(d, tables.negativeSin)]);
}

/** Repeats each key/value head for the query heads that share it: [N, kvHeads·D] to [N, heads·D]. */
export function repeatHeads(g: Graph, x: Tensor, kvHeads: number, heads: number, headDim: number): Tensor {
  const share = heads / kvHeads;
  if (share === 1) return x;
  const single = reshape(g, x, g.ints([-1, kvHeads, 1, headDim]));
  // The first dimension broadcasts against 1, which leaves it as it is.
  const repeated = g.emit('Expand', [single, g.ints([1, 1, share, 1])]);
  return g.record(reshape(g, repeated, g.ints([-1, heads * headDim])), [x], (d) => {
    const grouped = reshape(g, d, g.ints([-1, kvHeads, share, headDim]));
    const summed = g.emit('ReduceSum', [grouped, g.ints([2])], { keepdims: 0 });
    return [reshape(g, summed, g.ints([-1, kvHeads * headDim]))];
  });
}

export interface AttentionShapes {
  /** int64 constant-like tensor with the values [T, B·heads, D]. */
  readonly perHead: Tensor;
  /** Additive mask [T, T]: 0 where a query (row) may look, very negative elsewhere. */
  readonly mask: Tensor;
  readonly heads: number;
  readonly headDim: number;
}

/** Softmax(q kᵀ / √D + mask) v for q, k, v [T·B, heads·D] time-major. */
export function attention(g: Graph, q: Tensor, k: Tensor, v: Tensor, shapes: AttentionShapes): Tensor {
  const { perHead, mask, heads, headDim } = shapes;
  const scale = { float: 1 / Math.sqrt(headDim) };
  const flat = g.ints([-1, heads * headDim]);
  const split = (x: Tensor): Tensor => reshape(g, x, perHead);
  /** [B·heads, T, D] back to [T, B·heads, D]. */
  const timeMajor = (x: Tensor): Tensor => g.emit('Transpose', [x], { perm: [1, 0, 2] });

  const q3 = split(q);
  const k3 = split(k);
  const v3 = split(v);
  const scores = fusedMatMul(g, q3, k3, { transBatchA: 1, transBatchB: 1, transB: 1, alpha: scale });
  const p = g.emit('Softmax', [g.emit('Add', [scores, mask])], { axis: -1 });
  const o3 = timeMajor(fusedMatMul(g, p, v3, { transBatchB: 1 }));
  return g.record(reshape(g, o3, flat), [q, k, v], (d) => {
    const d3 = split(d);
    const dv = fusedMatMul(g, p, d3, { transA: 1, transBatchB: 1 });
    const dp = fusedMatMul(g, d3, v3, { transBatchA: 1, transBatchB: 1, transB: 1 });
    // rowsum(dP ⊙ P) = rowsum(dO ⊙ O), and O has D columns where P has T.
    const rowSum = timeMajor(g.emit('ReduceSum', [g.emit('Mul', [d3, o3]), g.ints([-1])], { keepdims: 1 }));
    const ds = g.emit('Mul', [g.emit('Sub', [dp, rowSum]), p]);
    const dq = fusedMatMul(g, ds, k3, { transBatchB: 1, alpha: scale });
    const dk = fusedMatMul(g, ds, q3, { transA: 1, transBatchB: 1, alpha: scale });
    return [dq, dk, dv].map((x) => reshape(g, timeMajor(x), flat));
  });
}

/** silu(gate) ⊙ up (Shazeer 2020). */
export function swiglu(g: Graph, gate: Tensor, up: Tensor): Tensor {
  const sigmoid = g.emit('Sigmoid', [gate]);
  const silu = g.emit('Mul', [gate, sigmoid]);
  return g.record(g.emit('Mul', [silu, up]), [gate, up], (d) => {
    // silu′ = σ + silu·(1 − σ)
    const slope = g.emit('Sub', [g.emit('Add', [sigmoid, silu]), g.emit('Mul', [silu, sigmoid])]);
    return [g.emit('Mul', [g.emit('Mul', [d, up]), slope]), g.emit('Mul', [d, silu])];
  });
}

export interface TokenLogprobs {
  /** ln softmax(logits), [M, V]. */
  readonly all: Tensor;
  /** ln softmax(logits) at each row's target, [M, 1]. */
  readonly chosen: Tensor;
}

/** Log-probabilities of `targets` (int64 [M, 1]) under logits [M, V]; only `chosen` is differentiable. */
export function logprob(g: Graph, logits: Tensor, targets: Tensor): TokenLogprobs {
  const all = g.emit('LogSoftmax', [logits], { axis: -1 });
  const chosen = g.record(g.emit('GatherElements', [all, targets], { axis: 1 }), [logits], (d) => {
    const spread = g.emit('Mul', [g.emit('Exp', [all]), g.emit('Neg', [d])]);
    return [g.emit('ScatterElements', [spread, targets, d], { axis: 1, reduction: 'add' })];
  });
  return { all, chosen };
}

/** −Σ p ln p over the last axis in nats, [M], from log-probabilities [M, V]. Not differentiable. */
export function entropy(g: Graph, logprobs: Tensor): Tensor {
  const terms = g.emit('Mul', [g.emit('Exp', [logprobs]), logprobs]);
  return g.emit('Neg', [g.emit('ReduceSum', [terms, g.ints([-1])], { keepdims: 0 })]);
}
