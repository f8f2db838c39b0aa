import { z } from 'zod';
import { HoneError } from '../../core/error.js';

const positive = z
  .number()
  .int()
  .positive()
  .max(2 ** 20);
const id = z.number().int().nonnegative();

/** The fields of a Hugging Face `config.json` that a Llama decoder needs. */
const schema = z.object({
  model_type: z.literal('llama').default('llama'),
  hidden_size: positive,
  num_hidden_layers: positive.max(1024),
  num_attention_heads: positive,
  num_key_value_heads: positive.nullish(),
  head_dim: positive.nullish(),
  intermediate_size: positive,
  vocab_size: positive,
  max_position_embeddings: z
    .number()
    .int()
    .positive()
    .max(2 ** 24),
  rms_norm_eps: z.number().positive().max(1).default(1e-6),
  rope_theta: z.number().positive().nullish(),
  rope_parameters: z.looseObject({ rope_type: z.string().optional(), rope_theta: z.number().optional() }).nullish(),
  rope_scaling: z.looseObject({ rope_type: z.string().optional(), type: z.string().optional() }).nullish(),
  tie_word_embeddings: z.boolean().default(false),
  hidden_act: z.literal('silu').default('silu'),
  attention_bias: z.literal(false).default(false),
  mlp_bias: z.literal(false).default(false),
  bos_token_id: id.nullish(),
  eos_token_id: z.union([id, z.array(id).min(1)]).nullish(),
});

/** A Llama decoder under the names of Hugging Face's `LlamaConfig`, every field filled in. */
export interface DecoderConfig {
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  /** Key/value heads, each shared by num_attention_heads / num_key_value_heads query heads. */
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly intermediate_size: number;
  readonly vocab_size: number;
  readonly max_position_embeddings: number;
  readonly rms_norm_eps: number;
  readonly rope_theta: number;
  readonly tie_word_embeddings: boolean;
  readonly bos_token_id: number | null;
  readonly eos_token_id: number | null;
}

/** What {@link parseConfig} accepts: the fields with defaults may be absent. */
export type DecoderConfigInput = z.input<typeof schema>;

/** Checks a `config.json`. Errors: `bad_config`, naming `file` and the field. */
export function parseConfig(value: unknown, file = 'config.json'): DecoderConfig {
  const refuse = (field: string, what: string): never => {
    throw new HoneError(
      'bad_config',
      `${file}: ${field}: ${what}`,
      'The embedded engine runs Llama-architecture models; correct the field or use another checkpoint.',
    );
  };
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return refuse(issue?.path.join('.') || '(root)', issue?.message ?? 'invalid');
  }
  const c = parsed.data;
  const scaling = c.rope_scaling?.rope_type ?? c.rope_scaling?.type ?? c.rope_parameters?.rope_type ?? 'default';
  if (scaling !== 'default') refuse('rope_scaling', `"${scaling}" is not supported`);
  const kvHeads = c.num_key_value_heads ?? c.num_attention_heads;
  if (c.num_attention_heads % kvHeads !== 0) {
    refuse('num_key_value_heads', `${kvHeads} does not divide num_attention_heads ${c.num_attention_heads}`);
  }
  const headDim = c.head_dim ?? c.hidden_size / c.num_attention_heads;
  if (!Number.isInteger(headDim)) {
    refuse('hidden_size', `${c.hidden_size} is not a multiple of num_attention_heads ${c.num_attention_heads}`);
  }
  if (headDim % 2 !== 0) refuse('head_dim', `${headDim} must be even for rotary positions`);
  const eos = (Array.isArray(c.eos_token_id) ? c.eos_token_id[0] : c.eos_token_id) ?? null;
  if (eos !== null && eos >= c.vocab_size)
    refuse('eos_token_id', `${eos} is outside the vocabulary of ${c.vocab_size}`);
  return {
    hidden_size: c.hidden_size,
    num_hidden_layers: c.num_hidden_layers,
    num_attention_heads: c.num_attention_heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    intermediate_size: c.intermediate_size,
    vocab_size: c.vocab_size,
    max_position_embeddings: c.max_position_embeddings,
    rms_norm_eps: c.rms_norm_eps,
    rope_theta: c.rope_theta ?? c.rope_parameters?.rope_theta ?? 10000,
    tie_word_embeddings: c.tie_word_embeddings,
    bos_token_id: c.bos_token_id ?? null,
    eos_token_id: eos,
  };
}

/** The `config.json` that Hugging Face software reads. */
export function configJson(config: DecoderConfig): Record<string, unknown> {
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    attention_bias: false,
    mlp_bias: false,
    torch_dtype: 'float32',
    ...config,
  };
}
