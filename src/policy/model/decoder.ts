import type { Graph, Tensor } from '../graph/graph.js';
import { add, embed, linear, rmsNorm, swiglu } from '../graph/ops.js';
import type { DecoderConfig } from './config.js';
import { EMBEDDING, FINAL_NORM, HEAD, layerKey, parameterTable } from './parameters.js';

export type Weights = (name: string) => Tensor;

/**
 * Declares every parameter as a graph input. Inputs, not constants: an update then needs no new session, and the model
 * is not bound by protobuf's 2 GB.
 */
export function declareWeights(g: Graph, config: DecoderConfig, differentiable: boolean): Weights {
  const tensors = new Map(
    parameterTable(config).map((spec) => [spec.name, g.input(spec.name, 'float32', spec.shape, differentiable)]),
  );
  return (name) => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`no parameter ${name}`);
    return tensor;
  };
}

/** Mixes positions: q [N, heads·D], k and v [N, kvHeads·D], not yet rotated, to [N, heads·D]. */
export type Attend = (layer: number, q: Tensor, k: Tensor, v: Tensor) => Tensor;

/** A Llama decoder (Touvron et al. 2023) up to, and without, the final norm: ids [N] to hidden states [N, C]. */
export function hiddenStates(g: Graph, config: DecoderConfig, weights: Weights, ids: Tensor, attend: Attend): Tensor {
  let x = embed(g, weights(EMBEDDING), ids, config.hidden_size);
  for (let i = 0; i < config.num_hidden_layers; i++) {
    const w = (part: string): Tensor => weights(layerKey(i, part));
    const before = rmsNorm(g, x, w('input_layernorm'), config.rms_norm_eps);
    const mixed = attend(
      i,
      linear(g, before, w('self_attn.q_proj')),
      linear(g, before, w('self_attn.k_proj')),
      linear(g, before, w('self_attn.v_proj')),
    );
    x = add(g, x, linear(g, mixed, w('self_attn.o_proj')));
    const after = rmsNorm(g, x, w('post_attention_layernorm'), config.rms_norm_eps);
    const gated = swiglu(g, linear(g, after, w('mlp.gate_proj')), linear(g, after, w('mlp.up_proj')));
    x = add(g, x, linear(g, gated, w('mlp.down_proj')));
  }
  return x;
}

/** Final norm and output head: [M, C] to logits [M, V]. */
export function outputLogits(g: Graph, config: DecoderConfig, weights: Weights, x: Tensor): Tensor {
  // Weights that make the residual stream overflow must not pass for a model to which all tokens are equally likely.
  const normed = rmsNorm(g, x, weights(FINAL_NORM), config.rms_norm_eps, true);
  return linear(g, normed, weights(config.tie_word_embeddings ? EMBEDDING : HEAD));
}
