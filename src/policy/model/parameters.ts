import { stream } from '../../core/seeds.js';
import type { DecoderConfig } from './config.js';

/** One trainable tensor, under its Hugging Face key. */
export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

export const EMBEDDING = 'model.embed_tokens.weight';
export const FINAL_NORM = 'model.norm.weight';
export const HEAD = 'lm_head.weight';

export const layerKey = (layer: number, part: string): string => `model.layers.${layer}.${part}.weight`;

/** All parameters of a decoder, in the order in which they lie in memory and on disk. */
export function parameterTable(config: DecoderConfig): ParameterSpec[] {
  const c = config.hidden_size;
  const q = config.num_attention_heads * config.head_dim;
  const kv = config.num_key_value_heads * config.head_dim;
  const table: ParameterSpec[] = [{ name: EMBEDDING, shape: [config.vocab_size, c] }];
  for (let i = 0; i < config.num_hidden_layers; i++) {
    table.push(
      { name: layerKey(i, 'input_layernorm'), shape: [c] },
      { name: layerKey(i, 'self_attn.q_proj'), shape: [q, c] },
      { name: layerKey(i, 'self_attn.k_proj'), shape: [kv, c] },
      { name: layerKey(i, 'self_attn.v_proj'), shape: [kv, c] },
      { name: layerKey(i, 'self_attn.o_proj'), shape: [c, q] },
      { name: layerKey(i, 'post_attention_layernorm'), shape: [c] },
      { name: layerKey(i, 'mlp.gate_proj'), shape: [config.intermediate_size, c] },
      { name: layerKey(i, 'mlp.up_proj'), shape: [config.intermediate_size, c] },
      { name: layerKey(i, 'mlp.down_proj'), shape: [c, config.intermediate_size] },
    );
  }
  table.push({ name: FINAL_NORM, shape: [c] });
  if (!config.tie_word_embeddings) table.push({ name: HEAD, shape: [config.vocab_size, c] });
  return table;
}

export const elementCount = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** Weight decay applies to matrices, not to the gains of the norms. */
export const isMatrix = (spec: ParameterSpec): boolean => spec.shape.length === 2;

/**
 * Fills `target` with a fresh parameter: gains 1, the embedding N(0, 0.02²), other matrices N(0, 1/fan-in), and the two
 * projections that write into the residual stream scaled by 1/√(2·layers) (GPT-2, Radford et al. 2019 §2.3).
 */
export function initialise(spec: ParameterSpec, config: DecoderConfig, seed: number, target: Float32Array): void {
  if (!isMatrix(spec)) {
    target.fill(1);
    return;
  }
  const fanIn = spec.shape[1] ?? 1;
  const isTable = spec.name === EMBEDDING || spec.name === HEAD;
  const writesResidual = /(o_proj|down_proj)\.weight$/.test(spec.name);
  const residual = writesResidual ? 1 / Math.sqrt(2 * config.num_hidden_layers) : 1;
  const deviation = isTable ? 0.02 : residual / Math.sqrt(fanIn);
  const random = stream(seed, 'init', spec.name);
  for (let i = 0; i < target.length; i++) target[i] = deviation * random.normal();
}
