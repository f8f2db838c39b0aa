import { expect, test } from 'vitest';
import { parseConfig } from '../model/config.js';
import { TIED } from '../models.testing.js';
import { EngineClient } from './client.js';

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
