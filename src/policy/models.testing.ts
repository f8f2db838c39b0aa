/** Small real models for the tests of this folder. */
import { stream } from '../core/seeds.js';
import { type DecoderConfig, type DecoderConfigInput, parseConfig } from './model/config.js';
import { Engine, type EngineLimits } from './runtime/engine.js';

/** Grouped-query attention, an untied head, a head size that is not hidden_size / heads. */
export const GROUPED: DecoderConfigInput = {
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 6,
  intermediate_size: 20,
  vocab_size: 23,
  max_position_embeddings: 48,
  tie_word_embeddings: false,
};

/** As many key/value heads as heads, and a tied head. */
export const TIED: DecoderConfigInput = {
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  intermediate_size: 24,
  vocab_size: 19,
  max_position_embeddings: 48,
  tie_word_embeddings: true,
};

export const OPTIMISER = {
  learningRate: 3e-3,
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0.1,
  maxGradNorm: 1,
};

/** An engine whose gains and embeddings are perturbed, so that no gradient vanishes by symmetry; id 0 ends. */
export async function tinyEngine(
  config: DecoderConfigInput,
  limits: Partial<EngineLimits> = {},
  seed = 1,
): Promise<Engine> {
  const engine = await Engine.create(parseConfig(config), 0, { threads: 1, maxRows: 256, maxTokens: 2048, ...limits });
  engine.initialise(seed);
  for (const { name, shape } of engine.store.specs) {
    const random = stream(seed, 'perturb', name);
    const values = engine.store.view('p', name);
    for (let i = 0; i < values.length; i++) {
      if (shape.length === 1) values[i] = (values[i] ?? 0) + 0.3 * random.normal();
      else if (/embed|head/.test(name)) values[i] = (values[i] ?? 0) * 25;
    }
  }
  return engine;
}

/** `count` ids without the end token 0. */
export function randomIds(
  config: Pick<DecoderConfig, 'vocab_size'>,
  count: number,
  ...name: (string | number)[]
): number[] {
  const random = stream(7, 'ids', ...name);
  return Array.from({ length: count }, () => 1 + random.int(config.vocab_size - 1));
}

export function maxDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new Error(`lengths ${a.length} and ${b.length} differ`);
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] ?? 0) - (b[i] ?? 0));
    if (!(difference <= worst)) worst = difference;
  }
  return worst;
}
