import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Backend, DEFAULT_LIMITS, type ExecutionRequest } from '../index.js';
import { openQuickJS } from './pool.js';

const request = (source: string): ExecutionRequest => ({
  language: 'javascript',
  source,
  entryPoint: 'f',
  work: { kind: 'calls', calls: [[]], stopOnThrow: false },
  limits: DEFAULT_LIMITS,
});

let backend: Backend;
beforeAll(async () => {
  const script = new URL('./faulty.test.worker.js', import.meta.url);
  backend = await openQuickJS({ workers: 1, script, stallMs: 3000 });
});
afterAll(() => backend.close());

const FAULTS = [
  ['NO JSON', 'worker_garbled', /malformed answer: .*JSON/],
  ['NO CALLS', 'worker_garbled', /malformed answer: .*undefined/],
  ['NOTHING', 'worker_garbled', /malformed answer: .*null/],
  ['OTHER PROGRAM', 'worker_garbled', /malformed answer: out of order/],
  ['THROW', 'worker_died', /the worker failed: as asked/],
  ['STALL', 'worker_stalled', /did not answer, though CPU time was left/],
] as const;

test.each(FAULTS)('a worker that answers with %s ended the process or the queue', async (fault, code, message) => {
  const results = await Promise.all(
    ['const f = () => 1;', `const f = () => 2; // ${fault}`, ...[3, 4, 5].map((i) => `const f = () => ${i};`)].map(
      (source) => backend.execute(request(source)),
    ),
  );
  expect(results[1]?.failure).toMatchObject({
    verdict: 'infra_error',
    code,
    message: expect.stringMatching(message),
    hint: expect.stringContaining('failed twice'),
  });
  expect(results.map(({ calls }) => calls)).toEqual(
    [1, 2, 3, 4, 5].map((value) => (value === 2 ? [] : [{ kind: 'returned', value }])),
  );
});
