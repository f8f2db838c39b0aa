/**
 * Differentiable operators. Each emits its forward nodes and records how its gradient is emitted.
 *
 * Activations are time-major and flat: row t·B + b of an [N, C] matrix is position t of sequence b. Then q, k and v turn
 * into [T, B·heads, D] by a reshape alone, and `FusedMatMul` reads that layout without a transpose.
 *
 * Determinism: every emitted operator must give the same bits for the same inputs and thread count. So no gradient uses
 * `ScatterND(reduction=add)` with repeated indexes: ONNX Runtime runs its updates in parallel, without atomics
 * (microsoft/onnxruntime#23396). `ScatterElements` runs them in order on one thread.
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

/** x · factor for a scalar `factor` that receives no gradient. */
export function scale(g: Graph, x: Tensor, factor: Tensor): Tensor {
  return g.record(g.emit('Mul', [x, factor]), [x], (d) => [g.emit('Mul', [d, factor])]);
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

/**
 * Root-mean-square norm over the last axis with gain w [C] (Zhang & Sennrich 2019), x [N, C].
 * Where float32 cannot hold a mean square, 1/rms is 0 and so is the row; `loud` makes it NaN.
 */
export function rmsNorm(g: Graph, x: Tensor, w: Tensor, epsilon: number, loud = false): Tensor {
  // The second output is 1/rms, [N, 1]; it spares the backward pass a reduction. (The WebGPU provider of ONNX Runtime
  // 1.30 leaves it unwritten: compose the norm from basic operators there.)
  const [y, inverseRms] = g.emitPair('SimplifiedLayerNormalization', [x, w], {
    axis: -1,
    epsilon: { float: epsilon },
    stash_type: 1,
  });
  // rms · 0: zero for a finite rms, NaN for an infinite one.
  const alarm = (): Tensor => g.emit('Mul', [g.emit('Reciprocal', [inverseRms]), g.floats(0)]);
  return g.record(loud ? g.emit('Add', [y, alarm()]) : y, [x, w], (d) => {
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
  /** int64 tensor with the values [T, B·heads, D]. */
  readonly perHead: Tensor;
  /** Additive mask [T, T]: 0 where a query (row) may look, very negative elsewhere. */
  readonly mask: Tensor;
  readonly heads: number;
  readonly headDim: number;
}

/** Softmax(q kᵀ / √D + mask) v for q, k, v [T·B, heads·D] time-major. */
export function attention(g: Graph, q: Tensor, k: Tensor, v: Tensor, shapes: AttentionShapes): Tensor {
  const { output, vjp } = attentionParts(g, q, k, v, shapes);
  return g.record(output, [q, k, v], vjp);
}

/** Forward pass and gradient of {@link attention}, for composition. */
function attentionParts(
  g: Graph,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  { perHead, mask, heads, headDim }: AttentionShapes,
): { output: Tensor; vjp: (d: Tensor) => [dq: Tensor, dk: Tensor, dv: Tensor] } {
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
  return {
    output: reshape(g, o3, flat),
    vjp(d) {
      const d3 = split(d);
      const dv = fusedMatMul(g, p, d3, { transA: 1, transBatchB: 1 });
      const dp = fusedMatMul(g, d3, v3, { transBatchA: 1, transBatchB: 1, transB: 1 });
      // rowsum(dP ⊙ P) = rowsum(dO ⊙ O), and O has D columns where P has T.
      const rowSum = timeMajor(g.emit('ReduceSum', [g.emit('Mul', [d3, o3]), g.ints([-1])], { keepdims: 1 }));
      const ds = g.emit('Mul', [g.emit('Sub', [dp, rowSum]), p]);
      const dq = fusedMatMul(g, ds, k3, { transBatchB: 1, alpha: scale });
      const dk = fusedMatMul(g, ds, q3, { transA: 1, transBatchB: 1, alpha: scale });
      const back = (x: Tensor): Tensor => reshape(g, timeMajor(x), flat);
      return [back(dq), back(dk), back(dv)];
    },
  };
}

export interface SharedPrefixShapes {
  readonly heads: number;
  readonly headDim: number;
  /** int64 scalars-in-vectors [1]: prefix length, prefixes, members per prefix, tail length. */
  readonly prefixLength: Tensor;
  readonly prefixes: Tensor;
  readonly members: Tensor;
  readonly tailLength: Tensor;
  /** Additive masks: causal [P, P] and [T, T], and [prefixes, 1, P] that hides the padding of each prefix. */
  readonly prefixMask: Tensor;
  readonly tailMask: Tensor;
  readonly paddingMask: Tensor;
}

/**
 * Causal attention where several tails continue one prefix: q, k, v [N, heads·D] hold the rows of the prefixes
 * (time-major [P, prefixes]), then those of the tails (time-major [T, prefixes·members], members of a prefix adjacent).
 * A prefix is computed once for all its tails; its gradient sums over them.
 */
export function sharedPrefixAttention(g: Graph, q: Tensor, k: Tensor, v: Tensor, shapes: SharedPrefixShapes): Tensor {
  const { heads, headDim, prefixLength, prefixes, members, tailLength } = shapes;
  const scale = { float: 1 / Math.sqrt(headDim) };
  const head = g.ints([heads]);
  const dim = g.ints([headDim]);
  const flat = g.ints([-1, heads * headDim]);
  const concat = (parts: readonly Tensor[], axis = 0): Tensor => g.emit('Concat', parts, { axis });
  const product = (a: Tensor, b: Tensor): Tensor => g.emit('Mul', [a, b]);

  const prefixRows = product(prefixLength, prefixes);
  const prefixHeads = product(prefixes, head);
  const prefixShape = concat([prefixLength, prefixHeads, dim]);
  const rows = (x: Tensor, from: Tensor, to: Tensor): Tensor => g.emit('Slice', [x, from, to, g.ints([0])]);
  const prefixOf = (x: Tensor): Tensor => rows(x, g.ints([0]), prefixRows);
  const tailOf = (x: Tensor): Tensor => rows(x, prefixRows, g.ints([2 ** 31 - 1]));

  // Tails as [prefixes·heads, members·T, D]: then the product with the prefix is one matrix product per head, and a
  // reshape to [prefixes·heads·members, T, D] gives the products of each tail with itself.
  const tailShape = concat([tailLength, prefixes, members, head, dim]);
  const headMajor = concat([prefixes, head, members, tailLength, dim]);
  const together = concat([prefixHeads, product(members, tailLength), dim]);
  const apart = concat([product(prefixHeads, members), tailLength, dim]);
  const toHeads = (x: Tensor): Tensor => g.emit('Transpose', [reshape(g, x, tailShape)], { perm: [1, 3, 2, 0, 4] });
  const toRows = (x: Tensor): Tensor =>
    reshape(g, g.emit('Transpose', [reshape(g, x, headMajor)], { perm: [3, 0, 2, 1, 4] }), flat);
  const both = (x: Tensor): { together: Tensor; apart: Tensor } => {
    const byHead = toHeads(x);
    return { together: reshape(g, byHead, together), apart: reshape(g, byHead, apart) };
  };

  const [qP, kP, vP] = [q, k, v].map(prefixOf) as [Tensor, Tensor, Tensor];
  const prefix = attentionParts(g, qP, kP, vP, { perHead: prefixShape, mask: shapes.prefixMask, heads, headDim });
  const kP3 = reshape(g, kP, prefixShape);
  const vP3 = reshape(g, vP, prefixShape);
  const qT = both(tailOf(q));
  const kT = both(tailOf(k)).apart;
  const vT = both(tailOf(v)).apart;

  const toPrefix = fusedMatMul(g, qT.together, kP3, { transBatchB: 1, transB: 1, alpha: scale });
  const perPrefix = concat([prefixes, g.ints([-1]), prefixLength]);
  const masked = g.emit('Add', [reshape(g, toPrefix, perPrefix), shapes.paddingMask]);
  const perTail = concat([product(prefixHeads, members), tailLength, prefixLength]);
  const toTail = g.emit('Add', [fusedMatMul(g, qT.apart, kT, { transB: 1, alpha: scale }), shapes.tailMask]);
  const p = g.emit('Softmax', [concat([reshape(g, masked, perTail), toTail], -1)], { axis: -1 });
  const columns = (from: Tensor, to: Tensor): Tensor => g.emit('Slice', [p, from, to, g.ints([2])]);
  const pPrefix = reshape(
    g,
    columns(g.ints([0]), prefixLength),
    concat([prefixHeads, product(members, tailLength), prefixLength]),
  );
  const pTail = columns(prefixLength, g.ints([2 ** 31 - 1]));
  const oT = g.emit('Add', [
    reshape(g, fusedMatMul(g, pPrefix, vP3, { transBatchB: 1 }), apart),
    fusedMatMul(g, pTail, vT, {}),
  ]);
  const output = concat([prefix.output, toRows(oT)]);

  return g.record(output, [q, k, v], (d) => {
    const [dqP, dkP, dvP] = prefix.vjp(prefixOf(d));
    const dT = both(tailOf(d));
    const rowSum = g.emit('ReduceSum', [g.emit('Mul', [dT.apart, oT]), g.ints([-1])], { keepdims: 1 });
    const rowSumTogether = reshape(g, rowSum, concat([prefixHeads, g.ints([-1, 1])]));
    const softmaxBack = (dp: Tensor, sum: Tensor, weights: Tensor): Tensor =>
      g.emit('Mul', [g.emit('Sub', [dp, sum]), weights]);
    const dsPrefix = softmaxBack(
      fusedMatMul(g, dT.together, vP3, { transBatchB: 1, transB: 1 }),
      rowSumTogether,
      pPrefix,
    );
    const dsTail = softmaxBack(fusedMatMul(g, dT.apart, vT, { transB: 1 }), rowSum, pTail);
    const dqT = g.emit('Add', [
      reshape(g, fusedMatMul(g, dsPrefix, kP3, { transBatchB: 1, alpha: scale }), apart),
      fusedMatMul(g, dsTail, kT, { alpha: scale }),
    ]);
    const dkT = fusedMatMul(g, dsTail, qT.apart, { transA: 1, alpha: scale });
    const dvT = fusedMatMul(g, pTail, dT.apart, { transA: 1 });
    /** Adds what the tails send back, [prefixes·heads, P, D], to the prefix's own gradient [P·prefixes, heads·D]. */
    const withTails = (own: Tensor, fromTails: Tensor): Tensor =>
      g.emit('Add', [own, reshape(g, g.emit('Transpose', [fromTails], { perm: [1, 0, 2] }), flat)]);
    const dkPrefix = withTails(dkP, fusedMatMul(g, dsPrefix, qT.together, { transA: 1, alpha: scale }));
    const dvPrefix = withTails(dvP, fusedMatMul(g, pPrefix, dT.together, { transA: 1 }));
    return [concat([dqP, toRows(dqT)]), concat([dkPrefix, toRows(dkT)]), concat([dvPrefix, toRows(dvT)])];
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
