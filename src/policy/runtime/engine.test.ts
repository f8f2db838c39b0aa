import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { Completion, SampleRequest, TrainSequence } from '../../core/policy.js';
import { stream } from '../../core/seeds.js';
import type { DecoderConfigInput } from '../model/config.js';
import { GROUPED, maxDifference, OPTIMISER, randomIds, TIED, tinyEngine } from '../models.testing.js';
import type { Engine, EngineLimits } from './engine.js';
import { fingerprint } from './fingerprint.testing.js';

const opened: Engine[] = [];
async function make(config: DecoderConfigInput, limits?: Partial<EngineLimits>, seed?: number): Promise<Engine> {
  const engine = await tinyEngine(config, limits, seed);
  opened.push(engine);
  return engine;
}
afterEach(async () => {
  for (const engine of opened.splice(0)) await engine.release();
});

const ignore = (): void => undefined;
const OPTIONS = { seed: 9, temperature: 1, maxNewTokens: 14 };
const requestsFor = (config: DecoderConfigInput): SampleRequest[] =>
  [4, 1, 9, 4, 17].map((length, i) => ({
    promptIds: randomIds(config, length, 'prompt', i),
    n: 3 + i,
    stream: ['test', i],
  }));

describe.each([
  ['grouped-query attention', GROUPED],
  ['tied head', TIED],
] as const)('sampling with %s', (_, config) => {
  test.each([1, 0.7])('log-probabilities and entropies equal those scored at temperature %d', async (temperature) => {
    const engine = await make(config);
    const requests = requestsFor(config);
    const sampled = await engine.sample(requests, { ...OPTIONS, temperature }, ignore);
    const flat = sampled.flatMap((list, i) => list.map((c) => ({ c, promptIds: requests[i]!.promptIds })));
    const sequences = flat.map(({ c, promptIds }) => ({ promptIds, completionIds: c.ids }));
    const scores = await engine.score(sequences, { temperature });
    flat.forEach(({ c }, i) => {
      expect(maxDifference(c.logprobs, scores[i]!.logprobs)).toBeLessThan(1e-5);
      expect(maxDifference(c.entropies, scores[i]!.entropies)).toBeLessThan(1e-5);
    });
    const lengths = flat.map(({ c }) => c.ids.length);
    // Some ended early, so that the batch was compacted on the way.
    if (temperature === 1) expect(Math.min(...lengths)).toBeLessThan(8);
    expect(Math.max(...lengths)).toBe(14);
  });

  test('what one request gets does not depend on the others, nor on how the batch is cut', async () => {
    const requests = requestsFor(config);
    const together = await (await make(config)).sample(requests, OPTIONS, ignore);
    const engine = await make(config, { maxRows: 4, maxTokens: 16 });
    const cut = await engine.sample(requests, OPTIONS, ignore);
    const idsOf = (lists: Completion[][]): (readonly number[])[][] => lists.map((list) => list.map((c) => c.ids));
    expect(idsOf(cut)).toEqual(idsOf(together));
    for (const [i, request] of requests.entries()) {
      expect(idsOf(await engine.sample([request], OPTIONS, ignore))[0]).toEqual(idsOf(together)[i]);
    }
  });
});

test('a completion ends with the end token, or at the limit, or where the context ends', async () => {
  const engine = await make({ ...TIED, max_position_embeddings: 20 });
  const requests = [2, 16].map((length, i) => ({ promptIds: randomIds(TIED, length, i), n: 8, stream: [i] }));
  let progress = 0;
  const sampled = await engine.sample(requests, OPTIONS, (tokens) => {
    expect(tokens).toBeGreaterThanOrEqual(progress);
    progress = tokens;
  });
  const limits = [14, 5];
  sampled.forEach((list, i) => {
    expect(list.length).toBe(8);
    for (const { ids, logprobs, entropies, finish } of list) {
      expect(logprobs.length).toBe(ids.length);
      expect(entropies.length).toBe(ids.length);
      expect(ids.slice(0, -1)).not.toContain(0);
      expect(finish).toBe(ids.at(-1) === 0 ? 'stop' : 'length');
      if (finish === 'length') expect(ids.length).toBe(limits[i]);
    }
  });
  expect(progress).toBe(sampled.flat().reduce((total, c) => total + c.ids.length, 0));
});

test('a completion that has filled the context does not stop the others', async () => {
  const context = 20;
  const engine = await make({ ...TIED, max_position_embeddings: context });
  // One of many, so that the batch is not compacted when it ends; its next position would lie outside the context.
  const long = { promptIds: randomIds(TIED, context - 2, 'long'), n: 1, stream: ['long'] };
  const short = { promptIds: randomIds(TIED, 2, 'short'), n: 60, stream: ['short'] };
  const [[filled], others] = (await engine.sample([long, short], OPTIONS, ignore)) as [Completion[], Completion[]];
  expect(filled).toMatchObject({ finish: 'length' });
  expect(filled!.ids.length).toBe(3);
  const [alone] = await engine.sample([short], OPTIONS, ignore);
  expect(others.map((c) => c.ids)).toEqual(alone!.map((c) => c.ids));
  expect(Math.max(...others.map((c) => c.ids.length))).toBe(OPTIONS.maxNewTokens);
});

test('draws follow the distribution, at any temperature', async () => {
  const engine = await make(TIED);
  const promptIds = randomIds(TIED, 3, 'frequency');
  for (const temperature of [1, 0.5]) {
    const scored = await engine.score(
      Array.from({ length: TIED.vocab_size }, (_, id) => ({ promptIds, completionIds: [id] })),
    );
    const powers = scored.map((s) => Math.exp(s.logprobs[0]! / temperature));
    const total = powers.reduce((a, b) => a + b, 0);
    const n = 4000;
    const [drawn] = await engine.sample(
      [{ promptIds, n, stream: ['f'] }],
      { seed: 1, temperature, maxNewTokens: 1 },
      ignore,
    );
    const counts = new Array<number>(TIED.vocab_size).fill(0);
    for (const { ids, logprobs } of drawn!) {
      counts[ids[0]!]! += 1;
      expect(logprobs[0]).toBeCloseTo(Math.log(powers[ids[0]!]! / total), 4);
    }
    powers.forEach((power, id) => {
      const p = power / total;
      // Six standard deviations of a binomial, for a fixed seed.
      expect(Math.abs(counts[id]! - n * p)).toBeLessThan(6 * Math.sqrt(n * p * (1 - p)) + 1);
    });
  }
});

test('temperature 0 takes the most probable token', async () => {
  const engine = await make(GROUPED);
  const promptIds = randomIds(GROUPED, 3, 'greedy');
  const scored = await engine.score(
    Array.from({ length: GROUPED.vocab_size }, (_, id) => ({ promptIds, completionIds: [id] })),
  );
  const logs = scored.map((s) => s.logprobs[0]!);
  const greedy = { seed: 1, temperature: 0, maxNewTokens: 1 };
  const [drawn] = await engine.sample([{ promptIds, n: 3, stream: ['g'] }], greedy, ignore);
  for (const { ids, logprobs } of drawn!) {
    expect(ids[0]).toBe(logs.indexOf(Math.max(...logs)));
    expect(logprobs[0]).toBeCloseTo(Math.max(...logs), 5);
  }
});

test('temperatures without a distribution are refused', async () => {
  const engine = await make(TIED);
  const sequence = { promptIds: [1], completionIds: [2], tokenGradients: Float32Array.of(1) };
  for (const temperature of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e-300]) {
    const refused = { code: 'bad_option', message: expect.stringContaining(`temperature ${temperature}`) };
    const request = { promptIds: [1], n: 1, stream: [] };
    await expect(engine.sample([request], { ...OPTIONS, temperature }, ignore)).rejects.toMatchObject(refused);
    await expect(engine.score([sequence], { temperature })).rejects.toMatchObject(refused);
    await expect(engine.step([sequence], OPTIMISER, { temperature })).rejects.toMatchObject(refused);
  }
  // Greedy sampling has no gradient.
  await expect(engine.step([sequence], OPTIMISER, { temperature: 0 })).rejects.toMatchObject({ code: 'bad_option' });
});

test('weights that are not finite are named as the cause', async () => {
  const engine = await make(TIED);
  engine.store.view('p', 'model.norm.weight').fill(Number.NaN);
  const request = { promptIds: [1, 2], n: 2, stream: ['x'] };
  await expect(engine.sample([request], OPTIONS, ignore)).rejects.toMatchObject({ code: 'nan_probability' });
  await expect(engine.score([{ promptIds: [1], completionIds: [2] }])).rejects.toMatchObject({
    code: 'nan_probability',
  });
});

test.each([1e30, 1e8, 1e4])(
  'a learning rate of %d does not pass for a policy that finds all tokens equally likely',
  async (learningRate) => {
    const engine = await make(TIED);
    const request = { promptIds: [1, 2], n: 2, stream: ['x'] };
    const result = engine
      .step(batchOf(TIED, 3), { ...OPTIMISER, learningRate })
      .then(() => engine.sample([request], OPTIONS, ignore));
    await expect(result).rejects.toMatchObject({ code: learningRate > 1e18 ? 'diverged' : 'nan_probability' });
  },
);

function batchOf(config: DecoderConfigInput, count: number): TrainSequence[] {
  return Array.from({ length: count }, (_, i) => {
    const random = stream(13, 'batch', i);
    const length = 1 + random.int(14);
    return {
      promptIds: randomIds(config, 1 + random.int(20), 'bp', i),
      completionIds: randomIds(config, length, 'bc', i),
      tokenGradients: Float32Array.from({ length }, () => random.normal()),
    };
  });
}

test('the same batch gives the same bits with two threads, in one process and in another', async () => {
  // Large enough that ONNX Runtime spreads its work over both threads, repeated ids included.
  const here = await fingerprint();
  expect(await fingerprint()).toBe(here);
  const elsewhere = execFileSync(
    process.execPath,
    [fileURLToPath(new URL('./fingerprint.testing.js', import.meta.url))],
    {
      encoding: 'utf8',
    },
  );
  expect(elsewhere.trim()).toBe(here);
});

test('shapes may change from call to call', async () => {
  const engine = await make(GROUPED);
  const fresh = await make(GROUPED);
  for (const count of [1, 7, 3, 7, 1]) {
    await engine.accumulate(batchOf(GROUPED, count));
  }
  await engine.accumulate(batchOf(GROUPED, 4));
  await fresh.accumulate(batchOf(GROUPED, 4));
  for (const { name } of engine.store.specs) {
    expect(engine.store.view('g', name)).toEqual(fresh.store.view('g', name));
  }
});

test('gradients do not depend on the size of the micro-batches, except through rounding', async () => {
  const large = await make(TIED);
  const small = await make(TIED, { maxTokens: 40 });
  const a = await large.step(batchOf(TIED, 12), OPTIMISER);
  const b = await small.step(batchOf(TIED, 12), OPTIMISER);
  expect(b.tokens).toBe(a.tokens);
  expect(b.gradNorm / a.gradNorm).toBeCloseTo(1, 5);
  expect(b.loss).toBeCloseTo(a.loss, 3);
});

test('a gradient that is not finite is refused, and the next step is as if it had not been tried', async () => {
  const engine = await make(TIED);
  const fresh = await make(TIED);
  const good = batchOf(TIED, 3);
  const bad = good.map((s) => ({ ...s, tokenGradients: s.tokenGradients.map(() => Number.NaN) }));
  await expect(engine.step(bad, OPTIMISER)).rejects.toMatchObject({ code: 'nan_gradient' });
  expect(await engine.step(good, OPTIMISER)).toEqual(await fresh.step(good, OPTIMISER));
  for (const { name } of engine.store.specs) {
    expect(engine.store.view('p', name)).toEqual(fresh.store.view('p', name));
  }
});

test('token gradients must fit the completion', async () => {
  const engine = await make(TIED);
  const [sequence] = batchOf(TIED, 1);
  const wrong = { ...sequence!, tokenGradients: new Float32Array(99) };
  await expect(engine.step([wrong], OPTIMISER)).rejects.toMatchObject({ code: 'bad_sequence' });
});

test('memory does not grow with the number of steps', async () => {
  const config = { ...TIED, hidden_size: 64, intermediate_size: 128, vocab_size: 300 };
  const engine = await make(config);
  const turn = async (step: number): Promise<void> => {
    await engine.step(batchOf(config, 1 + (step % 3)), OPTIMISER);
    await engine.sample([{ promptIds: [1, 2], n: 2, stream: [step] }], { ...OPTIONS, maxNewTokens: 3 }, ignore);
  };
  for (let step = 0; step < 30; step++) await turn(step);
  const before = process.memoryUsage.rss();
  const steps = 300;
  for (let step = 0; step < steps; step++) await turn(step);
  const grown = process.memoryUsage.rss() - before;
  const gradients = 4 * engine.store.parameterCount;
  expect(grown).toBeLessThan((steps * gradients) / 2);
});

test('supervised steps learn a sequence by heart', async () => {
  const engine = await make(GROUPED);
  const target = { promptIds: [3], completionIds: [5, 9, 2, 9, 14, 0] };
  for (let i = 0; i < 60; i++) {
    const tokenGradients = new Float32Array(6).fill(-1 / 6);
    await engine.step([{ ...target, tokenGradients }], { ...OPTIMISER, learningRate: 0.01 });
  }
  const [score] = await engine.score([target]);
  expect(Math.min(...score!.logprobs)).toBeGreaterThan(Math.log(0.9));
  const greedy = { seed: 1, temperature: 0, maxNewTokens: 10 };
  const [completions] = await engine.sample([{ promptIds: [3], n: 1, stream: ['a'] }], greedy, ignore);
  expect(completions![0]).toMatchObject({ ids: target.completionIds, finish: 'stop' });
});

test('policy gradients raise the reward: the model learns to repeat its prompt', async () => {
  const engine = await make({ ...TIED, hidden_size: 32 });
  engine.initialise(1);
  const length = 4;
  const rewardOf = (prompt: number, c: Completion): number => c.ids.filter((id) => id === prompt).length / length;
  const rewards: number[] = [];
  for (let step = 0; step < 40; step++) {
    const requests = Array.from({ length: 12 }, (_, i) => ({
      promptIds: [1 + ((5 * step + i) % 18)],
      n: 8,
      stream: ['sample', step, i],
    }));
    const options = { seed: 3, temperature: 1, maxNewTokens: length };
    const groups = await engine.sample(requests, options, ignore);
    const batch = groups.flatMap((group, i) => {
      const scores = group.map((c) => rewardOf(requests[i]!.promptIds[0]!, c));
      const mean = scores.reduce((a, b) => a + b, 0) / scores.length;
      rewards.push(mean);
      return group.map((c, k) => ({
        promptIds: requests[i]!.promptIds,
        completionIds: c.ids,
        tokenGradients: new Float32Array(c.ids.length).fill((mean - scores[k]!) / (groups.length * group.length)),
      }));
    });
    await engine.step(batch, { ...OPTIMISER, learningRate: 0.01, weightDecay: 0 });
  }
  const meanOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  expect(meanOf(rewards.slice(0, 24))).toBeLessThan(0.15);
  expect(meanOf(rewards.slice(-24))).toBeGreaterThan(0.6);
}, 30_000);
