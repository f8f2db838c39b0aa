import { expect, test } from 'vitest';
import { GROUPED, TIED } from '../models.testing.js';
import { configJson, parseConfig } from './config.js';
import { elementCount, initialise, parameterTable } from './parameters.js';

test('fields with defaults may be absent', () => {
  expect(parseConfig(TIED)).toMatchObject({
    num_key_value_heads: 2,
    head_dim: 8,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    eos_token_id: null,
  });
});

test('what is written is read back', () => {
  const config = parseConfig({ ...GROUPED, bos_token_id: 1, eos_token_id: [2, 3], rope_theta: 5e5 });
  expect(config.eos_token_id).toBe(2);
  expect(parseConfig(JSON.parse(JSON.stringify(configJson(config))))).toEqual(config);
});

test('the rotary base is found where newer files keep it', () => {
  const config = parseConfig({ ...TIED, rope_parameters: { rope_type: 'default', rope_theta: 500000 } });
  expect(config.rope_theta).toBe(500000);
});

test.each([
  [{ hidden_size: undefined }, 'hidden_size'],
  [{ hidden_size: '16' }, 'hidden_size'],
  [{ vocab_size: 0 }, 'vocab_size'],
  [{ num_key_value_heads: 3 }, 'num_key_value_heads'],
  [{ num_attention_heads: 3 }, 'hidden_size'],
  [{ head_dim: 5 }, 'head_dim'],
  [{ model_type: 'gpt2' }, 'model_type'],
  [{ hidden_act: 'gelu' }, 'hidden_act'],
  [{ attention_bias: true }, 'attention_bias'],
  [{ rope_scaling: { rope_type: 'llama3' } }, 'rope_scaling'],
  [{ eos_token_id: 19 }, 'eos_token_id'],
])('%o is refused with the file and field %s', (change, field) => {
  expect(() => parseConfig({ ...TIED, ...change }, 'm/config.json')).toThrow(`m/config.json: ${field}: `);
});

test('something else than an object is refused', () => {
  expect(() => parseConfig(null)).toThrow('config.json: (root): ');
});

test('the parameter table has the names and shapes that Hugging Face uses', () => {
  const table = new Map(parameterTable(parseConfig(GROUPED)).map(({ name, shape }) => [name, shape]));
  expect(table.size).toBe(2 * 9 + 3);
  expect(table.get('model.embed_tokens.weight')).toEqual([23, 16]);
  expect(table.get('model.layers.1.self_attn.q_proj.weight')).toEqual([24, 16]);
  expect(table.get('model.layers.1.self_attn.k_proj.weight')).toEqual([12, 16]);
  expect(table.get('model.layers.0.self_attn.o_proj.weight')).toEqual([16, 24]);
  expect(table.get('model.layers.0.mlp.down_proj.weight')).toEqual([16, 20]);
  expect(table.get('model.norm.weight')).toEqual([16]);
  expect(table.get('lm_head.weight')).toEqual([23, 16]);
  expect(parameterTable(parseConfig(TIED)).some(({ name }) => name === 'lm_head.weight')).toBe(false);
});

test('initial weights are a function of the seed', () => {
  const config = parseConfig(TIED);
  const draw = (seed: number): number[] =>
    parameterTable(config).flatMap((spec) => {
      const values = new Float32Array(elementCount(spec.shape));
      initialise(spec, config, seed, values);
      return [...values];
    });
  expect(draw(5)).toEqual(draw(5));
  expect(draw(5)).not.toEqual(draw(6));
});
