/**
 * Speed of the embedded engine on a model of the base policy's size: one training step and sampling, in this process.
 * Usage: node dist/bench/engine.js [threads]
 */
import { availableParallelism } from 'node:os';
import { parseConfig } from '../src/policy/model/config.js';
import { Engine } from '../src/policy/runtime/engine.js';

const threads = Number(process.argv[2] ?? availableParallelism());
const PROMPTS = 32;
const GROUP = 8;
const PROMPT_LENGTH = 100;
const NEW_TOKENS = 60;
const OPTIMISER = {
  learningRate: 1e-4,
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

const config = parseConfig({
  hidden_size: 128,
  num_hidden_layers: 6,
  num_attention_heads: 2,
  intermediate_size: 352,
  vocab_size: 1024,
  max_position_embeddings: 512,
  tie_word_embeddings: true,
});
const engine = await Engine.create(config, 0, { threads, maxRows: 256, maxTokens: 2048 });
engine.initialise(1);
console.log(`${(engine.store.parameterCount / 1e6).toFixed(2)}M parameters, ${threads} threads`);

const requests = Array.from({ length: PROMPTS }, (_, i) => ({
  promptIds: Array.from({ length: PROMPT_LENGTH + (i % 8) }, (_, t) => 1 + ((7 * t + i) % 1000)),
  n: GROUP,
  stream: ['bench', i],
}));

for (let round = 0; round < 4; round++) {
  const t0 = performance.now();
  const options = { seed: round, temperature: 1, maxNewTokens: NEW_TOKENS };
  const groups = await engine.sample(requests, options, () => undefined);
  const t1 = performance.now();
  const batch = groups.flatMap((group, i) =>
    group.map(({ ids }) => ({
      promptIds: requests[i]?.promptIds ?? [],
      completionIds: ids,
      tokenGradients: new Float32Array(ids.length).fill(1e-4),
    })),
  );
  const { tokens } = await engine.step(batch, OPTIMISER);
  const t2 = performance.now();
  const read = batch.reduce((total, s) => total + s.promptIds.length + s.completionIds.length - 1, 0);
  console.log(
    `sample: ${tokens} tokens in ${(t1 - t0).toFixed(0)} ms, ${((tokens / (t1 - t0)) * 1000).toFixed(0)} tokens/s; ` +
      `step: ${tokens} targets, ${read} tokens read in ${(t2 - t1).toFixed(0)} ms, ` +
      `${((read / (t2 - t1)) * 1000).toFixed(0)} tokens/s`,
  );
}
await engine.release();
