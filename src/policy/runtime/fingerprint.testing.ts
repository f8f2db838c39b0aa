/** Prints a hash of everything that a short run computes; run as a program by the test of reproducibility. */
import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { OPTIMISER, randomIds, tinyEngine } from '../models.testing.js';

/** Samples and trains twice with two threads; the model is large enough for both to have work. */
export async function fingerprint(): Promise<string> {
  const engine = await tinyEngine(
    {
      hidden_size: 64,
      num_hidden_layers: 2,
      num_attention_heads: 4,
      num_key_value_heads: 2,
      intermediate_size: 128,
      vocab_size: 300,
      max_position_embeddings: 64,
      tie_word_embeddings: true,
    },
    { threads: 2 },
  );
  const hash = createHash('sha256');
  for (let step = 0; step < 2; step++) {
    const requests = [30, 12, 21].map((length, i) => ({
      // Ids repeat often within a prompt, and all over the batch.
      promptIds: randomIds({ vocab_size: 6 }, length, 'fingerprint', i),
      n: 12,
      stream: ['fingerprint', step, i],
    }));
    const options = { seed: 5, temperature: 1, maxNewTokens: 20 };
    const sampled = await engine.sample(requests, options, () => undefined);
    hash.update(JSON.stringify(sampled));
    const batch = sampled.flatMap((list, i) =>
      list.map((c, k) => ({
        promptIds: requests[i]!.promptIds,
        completionIds: c.ids,
        tokenGradients: new Float32Array(c.ids.length).fill(k % 2 === 0 ? 0.1 : -0.1),
      })),
    );
    hash.update(JSON.stringify(await engine.step(batch, OPTIMISER)));
    for (const { name } of engine.store.specs) {
      for (const part of ['p', 'm', 'v'] as const) hash.update(engine.store.view(part, name));
    }
  }
  await engine.release();
  return hash.digest('hex');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(await fingerprint());
}
