import { expect, test } from 'vitest';
import { parseConfig } from '../model/config.js';
import { OPTIMISER, randomIds, TIED } from '../models.testing.js';
import { EngineClient } from './client.js';
import { Engine } from './engine.js';

const LIMITS = { threads: 1, maxRows: 8, maxTokens: 64 };

test('a worker that dies rejects the call in flight and every later one', async () => {
  const client = new EngineClient();
  await client.call('open', [parseConfig(TIED), 0, { kind: 'fresh', seed: 1 }, LIMITS]);
  const rejected = expect(client.call('score', [[{ promptIds: [1], completionIds: [2] }], {}])).rejects.toMatchObject({
    name: 'HoneError',
    code: 'engine_died',
  });
  // Ends the thread from outside, as running out of memory would.
  await (client as unknown as { worker: { terminate(): Promise<number> } }).worker.terminate();
  await rejected;
  await expect(client.call('score', [[], {}])).rejects.toMatchObject({ code: 'engine_died' });
});

test('a call before the engine is open fails, and the client goes on', async () => {
  const client = new EngineClient();
  await expect(client.call('score', [[], {}])).rejects.toThrow('the engine is not open');
  const opened = await client.call('open', [parseConfig(TIED), 0, { kind: 'fresh', seed: 1 }, LIMITS]);
  expect(opened.parameters).toBeGreaterThan(0);
  await client.close();
});

test('arguments that cannot be sent reject their own call only', async () => {
  const client = new EngineClient();
  const unsendable = [{ promptIds: [1], completionIds: [() => 1] as unknown as number[] }];
  await expect(client.call('score', [unsendable, {}])).rejects.toThrow('could not be cloned');
  await expect(client.call('score', [[], {}])).rejects.toThrow('the engine is not open');
  await client.close();
});

test('the event loop goes on while the engine computes', async () => {
  const config = parseConfig({ ...TIED, hidden_size: 128, intermediate_size: 256, max_position_embeddings: 256 });
  const limits = { ...LIMITS, maxTokens: 4096 };
  const batch = Array.from({ length: 6 }, (_, i) => ({
    promptIds: randomIds(config, 20, 'loop', i),
    completionIds: randomIds(config, 200, 'loop', 'c', i),
    tokenGradients: new Float32Array(200).fill(1e-3),
  }));
  const ticksDuring = async (work: () => Promise<unknown>): Promise<number> => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await work();
    clearInterval(timer);
    return ticks;
  };

  // In one thread the loop only turns between the runs, of which a step this small has one.
  const engine = await Engine.create(config, 0, limits);
  engine.initialise(1);
  await engine.step(batch, OPTIMISER);
  const blocked = await ticksDuring(() => engine.step(batch, OPTIMISER));
  await engine.release();

  const client = new EngineClient();
  await client.call('open', [config, 0, { kind: 'fresh', seed: 1 }, limits]);
  await client.call('step', [batch, OPTIMISER, {}]);
  const free = await ticksDuring(() => client.call('step', [batch, OPTIMISER, {}]));
  await client.close();
  expect(free).toBeGreaterThan(2 * blocked + 2);
});
