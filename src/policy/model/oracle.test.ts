/**
 * The engine against a plain Llama forward pass: double precision, loops, no shared code.
 * Conventions of the Hugging Face checkpoint format: weights [out, in]; rotary positions in the half-split form, pair
 * (i, i + D/2) turned by p·θ^(−2i/D); query head h reads key head ⌊h / (heads / key heads)⌋.
 */
import { afterEach, expect, test } from 'vitest';
import { GROUPED, maxDifference, randomIds, TIED, tinyEngine } from '../models.testing.js';
import type { Engine } from '../runtime/engine.js';
import { type DecoderConfig, parseConfig } from './config.js';

type Vector = number[];
type Weights = (name: string) => Float32Array;

const opened: Engine[] = [];
afterEach(async () => {
  for (const engine of opened.splice(0)) await engine.release();
});

function times(weight: Float32Array, x: Vector): Vector {
  return Array.from({ length: weight.length / x.length }, (_, row) =>
    x.reduce((sum, value, i) => sum + value * weight[row * x.length + i]!, 0),
  );
}

function norm(x: Vector, gain: Float32Array, epsilon: number): Vector {
  const scale = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / x.length + epsilon);
  return x.map((v, i) => v * scale * gain[i]!);
}

/** Turns one head's vector to a position. */
function rotate(x: Vector, position: number, theta: number): Vector {
  const half = x.length / 2;
  return x.map((v, i) => {
    const angle = position * theta ** ((-2 * (i % half)) / x.length);
    const partner = i < half ? -x[i + half]! : x[i - half]!;
    return v * Math.cos(angle) + partner * Math.sin(angle);
  });
}

function softmax(x: Vector): Vector {
  const most = Math.max(...x);
  const weights = x.map((v) => Math.exp(v - most));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / total);
}

const heads = (x: Vector, size: number): Vector[] =>
  Array.from({ length: x.length / size }, (_, h) => x.slice(h * size, (h + 1) * size));

/** ln π of each id after the first `given` ones. */
function logprobs(config: DecoderConfig, weights: Weights, ids: readonly number[], given: number): number[] {
  const { hidden_size: C, head_dim: D, rms_norm_eps: epsilon, rope_theta: theta } = config;
  const embedding = weights('model.embed_tokens.weight');
  let xs = ids.map((id) => [...embedding.slice(id * C, (id + 1) * C)]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const w = (part: string): Float32Array => weights(`model.layers.${layer}.${part}.weight`);
    const normed = xs.map((x) => norm(x, w('input_layernorm'), epsilon));
    const project = (part: string): Vector[][] => normed.map((x) => heads(times(w(`self_attn.${part}_proj`), x), D));
    const q = project('q').map((list, p) => list.map((h) => rotate(h, p, theta)));
    const k = project('k').map((list, p) => list.map((h) => rotate(h, p, theta)));
    const v = project('v');
    const share = config.num_attention_heads / config.num_key_value_heads;
    xs = xs.map((x, p) => {
      const attended = q[p]!.flatMap((query, h) => {
        const source = Math.floor(h / share);
        const scores = k
          .slice(0, p + 1)
          .map((keys) => keys[source]!.reduce((s, y, i) => s + y * query[i]!, 0) / Math.sqrt(D));
        const attention = softmax(scores);
        return query.map((_, i) => attention.reduce((s, a, t) => s + a * v[t]![source]![i]!, 0));
      });
      const output = times(w('self_attn.o_proj'), attended);
      return x.map((y, i) => y + output[i]!);
    });
    xs = xs.map((x) => {
      const inner = norm(x, w('post_attention_layernorm'), epsilon);
      const up = times(w('mlp.up_proj'), inner);
      const gated = times(w('mlp.gate_proj'), inner).map((g, i) => (g / (1 + Math.exp(-g))) * up[i]!);
      const output = times(w('mlp.down_proj'), gated);
      return x.map((y, i) => y + output[i]!);
    });
  }
  const head = config.tie_word_embeddings ? embedding : weights('lm_head.weight');
  return ids.slice(given).map((id, i) => {
    const logits = times(head, norm(xs[given + i - 1]!, weights('model.norm.weight'), epsilon));
    return Math.log(softmax(logits)[id]!);
  });
}

test.each([
  ['grouped-query attention, untied head', GROUPED],
  ['tied head', TIED],
  ['another rotary base', { ...TIED, rope_theta: 500, rms_norm_eps: 1e-3 }],
])('the engine computes a Hugging Face Llama: %s', async (_, input) => {
  const config = parseConfig(input);
  const engine = await tinyEngine(input);
  opened.push(engine);
  const sequences = [1, 7, 20].map((length, i) => ({
    promptIds: randomIds(config, length, 'oracle', i),
    completionIds: randomIds(config, 9, 'oracle completion', i),
  }));
  const scores = await engine.score(sequences);
  sequences.forEach(({ promptIds, completionIds }, i) => {
    const expected = logprobs(
      config,
      (name) => engine.store.view('p', name),
      [...promptIds, ...completionIds],
      promptIds.length,
    );
    expect(maxDifference(scores[i]!.logprobs, expected)).toBeLessThan(2e-5);
  });
});
