import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TrainSequence } from '../../core/policy.js';
import { stream } from '../../core/seeds.js';
import { GROUPED, maxDifference, randomIds, TIED, tinyEngine } from '../models.testing.js';
import { packBatches, packItem } from '../runtime/batch.js';
import type { Engine } from '../runtime/engine.js';

const CONFIGS = [
  ['grouped-query attention, untied head', GROUPED],
  ['tied head', TIED],
] as const;

describe.each(CONFIGS)('%s', (_, config) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await tinyEngine(config);
  });
  afterAll(() => engine.release());

  const sequenceOf = (promptIds: number[], length: number, i: number): TrainSequence => {
    const random = stream(3, 'weights', i);
    return {
      promptIds,
      completionIds: randomIds(config, length, 'c', i),
      // Some targets are masked.
      tokenGradients: Float32Array.from({ length }, (_, t) => (t === 2 ? 0 : random.normal())),
    };
  };
  /** Different prompts, of different lengths. */
  const singles = (): TrainSequence[] =>
    [
      [3, 6],
      [7, 4],
      [1, 9],
    ].map(([prompt, completion], i) => sequenceOf(randomIds(config, prompt!, 'p', i), completion!, i));
  /** Groups of different sizes that share a prompt; one prompt has a single token, hence an empty prefix. */
  const groups = (): TrainSequence[] =>
    [
      [9, 3],
      [6, 2],
      [1, 3],
    ].flatMap(([prompt, members], i) =>
      Array.from({ length: members! }, (_, k) =>
        sequenceOf(randomIds(config, prompt!, 'g', i), 2 + ((3 * k + i) % 5), 10 * i + k),
      ),
    );
  const BATCHES = [
    ['whole', singles],
    ['shared', groups],
  ] as const;
  const GRADIENTS = BATCHES.flatMap(([layout, make]) => [1, 0.7].map((t) => [layout, t, make] as const));
  const layoutOf = (batch: readonly TrainSequence[]): string[] =>
    packBatches(
      batch.map((s, i) => packItem(s, i, s.tokenGradients)),
      2048,
    ).map(({ layout }) => layout);

  test.each(GRADIENTS)(
    'in the %s layout at temperature %d every parameter gradient equals finite differences',
    async (layout, temperature, make) => {
      const batch = make();
      expect(layoutOf(batch)).toEqual([layout]);
      const objective = async (): Promise<number> => {
        const scores = await engine.score(batch, { temperature });
        let total = 0;
        batch.forEach(({ tokenGradients }, i) => {
          tokenGradients.forEach((w, t) => {
            total += w * scores[i]!.logprobs[t]!;
          });
        });
        return total;
      };
      const { loss, tokens } = await engine.accumulate(batch, { temperature });
      expect(tokens).toBe(batch.reduce((n, s) => n + s.tokenGradients.filter((w) => w !== 0).length, 0));
      expect(Math.abs(loss - (await objective()))).toBeLessThan(1e-4);

      for (const { name } of engine.store.specs) {
        const gradient = engine.store.view('g', name).slice();
        const norm = Math.hypot(...gradient);
        expect(norm, name).toBeGreaterThan(1e-4);
        // Along the gradient, where the slope is the norm, and along a random direction.
        const random = stream(5, 'direction', name);
        for (const direction of [
          gradient.map((v) => v / norm),
          gradient.map(() => random.normal() / gradient.length ** 0.5),
        ]) {
          const expected = gradient.reduce((total, v, i) => total + v * direction[i]!, 0);
          const values = engine.store.view('p', name);
          const original = values.slice();
          const slope = async (h: number): Promise<number> => {
            const at = async (step: number): Promise<number> => {
              values.set(original.map((v, i) => v + step * direction[i]!));
              return objective();
            };
            return ((await at(h)) - (await at(-h))) / (2 * h);
          };
          const numeric = (4 * (await slope(5e-3)) - (await slope(1e-2))) / 3;
          values.set(original);
          expect(Math.abs(numeric - expected), name).toBeLessThan(5e-3 * norm + 5e-4);
        }
      }
    },
  );

  test.each(BATCHES)('in the %s layout the company in a batch changes nothing but rounding', async (_layout, make) => {
    const batch = make();
    await engine.accumulate(batch);
    const together = engine.store.specs.map(({ name }) => engine.store.view('g', name).slice());
    const alone = together.map((g) => new Float64Array(g.length));
    for (const sequence of batch) {
      await engine.accumulate([sequence]);
      engine.store.specs.forEach(({ name }, i) => {
        engine.store.view('g', name).forEach((v, j) => {
          alone[i]![j]! += v;
        });
      });
    }
    engine.store.specs.forEach(({ name }, i) => {
      expect(maxDifference(together[i]!, alone[i]!), name).toBeLessThan(2e-5);
    });

    const scores = await engine.score(batch);
    for (const [i, sequence] of batch.entries()) {
      const [single] = await engine.score([sequence]);
      expect(maxDifference(single!.logprobs, scores[i]!.logprobs)).toBeLessThan(1e-5);
      expect(maxDifference(single!.entropies, scores[i]!.entropies)).toBeLessThan(1e-5);
    }
  });

  test('the future does not reach the past', async () => {
    const [a] = singles();
    const changed = { ...a!, completionIds: [...a!.completionIds.slice(0, -1), (a!.completionIds.at(-1)! % 18) + 1] };
    const [before] = await engine.score([a!]);
    const [after] = await engine.score([changed]);
    expect([...after!.logprobs.slice(0, -1)]).toEqual([...before!.logprobs.slice(0, -1)]);
    expect(after!.logprobs.at(-1)).not.toBe(before!.logprobs.at(-1));
  });

  test('probabilities of all next tokens sum to one and give the entropy', async () => {
    const promptIds = randomIds(config, 5, 'sum');
    const all = Array.from({ length: config.vocab_size }, (_, id) => ({ promptIds, completionIds: [id] }));
    const scores = await engine.score(all);
    const logs = scores.map((s) => s.logprobs[0]!);
    expect(logs.reduce((total, l) => total + Math.exp(l), 0)).toBeCloseTo(1, 5);
    expect(scores[0]!.entropies[0]).toBeCloseTo(-logs.reduce((total, l) => total + l * Math.exp(l), 0), 4);
  });
});
