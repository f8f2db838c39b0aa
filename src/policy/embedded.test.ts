import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Policy, TrainSequence } from '../core/policy.js';
import { createPolicy, loadPolicy, trainBpe } from './index.js';
import { OPTIMISER, randomIds } from './models.testing.js';

const CONFIG = {
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 24,
  vocab_size: 280,
  max_position_embeddings: 32,
  tie_word_embeddings: true,
  eos_token_id: 0,
};
const TOKENIZER = trainBpe(['return a + b; return a - b;'], 270, ['<|end|>']);

let folder: string;
const policies: Policy[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hone-policy-'));
});
afterEach(async () => {
  for (const policy of policies.splice(0)) await policy.close();
  await rm(folder, { recursive: true });
});

async function fresh(): Promise<Policy> {
  const policy = await createPolicy({ config: CONFIG, tokenizerJson: TOKENIZER, seed: 4, threads: 1 });
  policies.push(policy);
  return policy;
}
async function load(directory: string, version?: number): Promise<Policy> {
  const policy = await loadPolicy(directory, { threads: 1, ...(version === undefined ? {} : { version }) });
  policies.push(policy);
  return policy;
}
const batch = (step: number): TrainSequence[] =>
  [3, 5].map((length, i) => ({
    promptIds: randomIds(CONFIG, 4, 'p', step, i),
    completionIds: randomIds(CONFIG, length, 'c', step, i),
    tokenGradients: new Float32Array(length).fill(-0.2),
  }));
const bytesOf = async (policy: Policy, name: string): Promise<Buffer[]> => {
  const directory = join(folder, name);
  await policy.save(directory, { optimiser: true });
  return Promise.all(['model.safetensors', 'optimizer.safetensors'].map((file) => readFile(join(directory, file))));
};

test('two steps, save, load and a third give the same bits as three steps', async () => {
  const straight = await fresh();
  for (let i = 0; i < 3; i++) await straight.step(batch(i), OPTIMISER);

  const first = await fresh();
  for (let i = 0; i < 2; i++) await first.step(batch(i), OPTIMISER);
  await first.save(join(folder, 'two'), { optimiser: true });
  const resumed = await load(join(folder, 'two'));
  expect(resumed.version).toBe(2);
  await resumed.step(batch(2), OPTIMISER);
  expect(resumed.version).toBe(3);
  expect(await bytesOf(resumed, 'resumed')).toEqual(await bytesOf(straight, 'straight'));
});

test('a checkpoint is a folder of Hugging Face files', async () => {
  const policy = await fresh();
  const target = join(folder, 'deep', 'model');
  await policy.save(target);
  expect((await readdir(target)).sort()).toEqual([
    'config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
  const config = JSON.parse(await readFile(join(target, 'config.json'), 'utf8')) as Record<string, unknown>;
  expect(config).toMatchObject({ ...CONFIG, architectures: ['LlamaForCausalLM'], model_type: 'llama', head_dim: 4 });
  const settings = JSON.parse(await readFile(join(target, 'tokenizer_config.json'), 'utf8')) as object;
  expect(settings).toMatchObject({ tokenizer_class: 'PreTrainedTokenizerFast', eos_token: '<|end|>' });
  const loaded = await load(target, 12);
  expect(loaded.version).toBe(12);
  expect(loaded.tokenizer.encode('return a')).toEqual(policy.tokenizer.encode('return a'));
  expect(await loaded.score(batch(0))).toEqual(await policy.score(batch(0)));
});

test('float16 weights load and score nearly the same', async () => {
  const policy = await fresh();
  await policy.save(join(folder, 'half'), { dtype: 'float16' });
  const loaded = await load(join(folder, 'half'));
  const [a] = await policy.score(batch(0));
  const [b] = await loaded.score(batch(0));
  a!.logprobs.forEach((value, i) => {
    expect(b!.logprobs[i]).toBeCloseTo(value, 2);
  });
});

test('saving over a checkpoint keeps other files and drops a stale optimiser state', async () => {
  const policy = await fresh();
  const target = join(folder, 'model');
  await policy.save(target, { optimiser: true });
  await writeFile(join(target, 'notes.txt'), 'mine');
  await policy.step(batch(0), OPTIMISER);
  await policy.save(target);
  expect(await readFile(join(target, 'notes.txt'), 'utf8')).toBe('mine');
  expect(existsSync(join(target, 'optimizer.safetensors'))).toBe(false);
  expect(await readdir(folder)).toEqual(['model']);
  expect((await load(target)).version).toBe(1);
});

test('a save that fails leaves what was there before', async () => {
  const policy = await fresh();
  const blocker = join(folder, 'file');
  await writeFile(blocker, '');
  await expect(policy.save(join(blocker, 'model'))).rejects.toMatchObject({ name: 'HoneError', code: 'unwritable' });
  await expect(policy.save(blocker)).rejects.toMatchObject({ code: 'unwritable' });
  expect(await readdir(folder)).toEqual(['file']);
});

test('optimiser state of other weights is refused', async () => {
  const policy = await fresh();
  await policy.save(join(folder, 'a'), { optimiser: true });
  await policy.step(batch(0), OPTIMISER);
  await policy.save(join(folder, 'b'), { optimiser: true });
  await copyFile(join(folder, 'a', 'optimizer.safetensors'), join(folder, 'b', 'optimizer.safetensors'));
  await expect(load(join(folder, 'b'))).rejects.toMatchObject({ code: 'checkpoint_mixed' });
});

test('a broken checkpoint is refused with the file that is wrong', async () => {
  const policy = await fresh();
  const target = join(folder, 'model');
  const broken = async (breakIt: () => Promise<void>, code: string, text: string): Promise<void> => {
    await rm(target, { recursive: true, force: true });
    await policy.save(target, { optimiser: true });
    await breakIt();
    await expect(load(target)).rejects.toMatchObject({
      name: 'HoneError',
      code,
      message: expect.stringContaining(text),
    });
  };
  const at = (file: string): string => join(target, file);
  const change = async (file: string, fields: object): Promise<void> => {
    const old = JSON.parse(await readFile(at(file), 'utf8')) as object;
    await writeFile(at(file), JSON.stringify({ ...old, ...fields }));
  };
  await broken(() => rm(at('model.safetensors')), 'checkpoint_missing', at('model.safetensors'));
  await broken(() => rm(at('config.json')), 'checkpoint_missing', at('config.json'));
  await broken(() => rm(at('tokenizer.json')), 'checkpoint_missing', at('tokenizer.json'));
  await broken(() => truncate(at('model.safetensors'), 5000), 'checkpoint_truncated', at('model.safetensors'));
  await broken(() => truncate(at('optimizer.safetensors'), 5000), 'checkpoint_truncated', at('optimizer.safetensors'));
  await broken(() => truncate(at('config.json'), 20), 'bad_json', at('config.json'));
  await broken(() => truncate(at('tokenizer.json'), 20), 'bad_json', at('tokenizer.json'));
  await broken(() => change('config.json', { hidden_size: 20 }), 'tensor_shape', 'model.embed_tokens.weight');
  await broken(() => change('config.json', { num_hidden_layers: 3 }), 'tensor_missing', 'model.layers.2.');
  await broken(() => change('config.json', { num_hidden_layers: 1 }), 'tensor_unexpected', 'model.layers.1.');
  await broken(() => change('config.json', { vocab_size: 200 }), 'tokenizer_mismatch', at('tokenizer.json'));
});

test('sampling reports its progress through the worker', async () => {
  const policy = await fresh();
  const seen: number[] = [];
  const [completions] = await policy.sample([{ promptIds: policy.tokenizer.encode('return'), n: 3, stream: ['x'] }], {
    seed: 1,
    temperature: 1,
    maxNewTokens: 5,
    onProgress: (tokens) => seen.push(tokens),
  });
  expect(seen.at(-1)).toBe(completions!.reduce((total, c) => total + c.ids.length, 0));
});

test('errors cross the thread with their code; the policy stays usable', async () => {
  const policy = await fresh();
  const bad = batch(0).map((s) => ({ ...s, tokenGradients: s.tokenGradients.map(() => Number.NaN) }));
  await expect(policy.step(bad, OPTIMISER)).rejects.toMatchObject({ name: 'HoneError', code: 'nan_gradient' });
  expect(policy.version).toBe(0);
  await expect(policy.score([{ promptIds: [], completionIds: [1] }])).rejects.toMatchObject({ code: 'bad_sequence' });
  await policy.step(batch(0), OPTIMISER);
  expect(policy.version).toBe(1);
});

test('after a step that ruined the weights every call is refused alike, and nothing is saved', async () => {
  const policy = await fresh();
  const target = join(folder, 'model');
  await policy.save(target, { optimiser: true });
  const diverged = {
    name: 'HoneError',
    code: 'diverged',
    message: expect.stringMatching(/^optimiser step 1 made the weights useless: model\.\S+ reaches 1\.\de\+30$/),
    hint: expect.stringContaining('learning rate'),
  };
  await expect(policy.step(batch(0), { ...OPTIMISER, learningRate: 1e30 })).rejects.toMatchObject(diverged);
  await expect(policy.step(batch(1), OPTIMISER)).rejects.toMatchObject(diverged);
  await expect(policy.score(batch(0))).rejects.toMatchObject(diverged);
  const options = { seed: 1, temperature: 1, maxNewTokens: 2 };
  await expect(policy.sample([{ promptIds: [1], n: 1, stream: [] }], options)).rejects.toMatchObject(diverged);
  await expect(policy.save(target, { optimiser: true })).rejects.toMatchObject(diverged);
  expect(policy.version).toBe(0);
  expect(await (await load(target)).score(batch(0))).toEqual(await (await fresh()).score(batch(0)));
});

test('calls in flight and later ones are rejected when the policy closes', async () => {
  const policy = await fresh();
  const refused = expect(policy.score(batch(0))).rejects.toMatchObject({ name: 'HoneError', code: 'policy_closed' });
  await policy.close();
  await refused;
  await expect(policy.score(batch(0))).rejects.toMatchObject({ code: 'policy_closed' });
});

test('a folder that exists without a checkpoint is refused', async () => {
  await mkdir(join(folder, 'empty'));
  await expect(load(join(folder, 'empty'))).rejects.toMatchObject({ code: 'checkpoint_missing' });
});
