import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Backend, DEFAULT_LIMITS, type ExecutionRequest } from '../index.js';
import { pulseMeter } from './clock.js';
import { openQuickJS } from './pool.js';

const request = (source: string, cpuMs = DEFAULT_LIMITS.cpuMs): ExecutionRequest => ({
  language: 'javascript',
  source,
  entryPoint: 'f',
  work: { kind: 'calls', calls: [[]], stopOnThrow: false },
  limits: { ...DEFAULT_LIMITS, cpuMs },
});

let backend: Backend;
beforeAll(async () => {
  const script = new URL('./faulty.test.worker.js', import.meta.url);
  backend = await openQuickJS({ workers: 1, script, stallMs: 2000 });
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

test('native loops ended as infra_error where the system does not tell the CPU time of threads', async () => {
  const pool = await openQuickJS({ workers: 1, threadTimes: false });
  try {
    const results = await Promise.all([
      pool.execute(request('const f = () => [].sort.call({ length: 2 ** 32 - 1 });', 1)),
      // Polls now and then, each time after a long native stretch.
      pool.execute(request('const f = () => { for (;;) [].sort.call({ length: 2 ** 24 }); };', 1)),
      pool.execute(request('const f = () => 1;', 1)),
    ]);
    const ended = { verdict: 'time_limit', message: 'CPU time limit exceeded in native code' };
    expect(results.map(({ failure }) => failure)).toEqual([ended, ended, undefined]);
    expect(results[2]?.calls).toEqual([{ kind: 'returned', value: 1 }]);
  } finally {
    await pool.close();
  }
});

const NATIVE = [
  ['a sort', '[].sort.call({ length: 2 ** 32 - 1 })'],
  ['a search from the end', 'Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)'],
  ['a search in a text', '"a".repeat(2e7).includes("a".repeat(1e7) + "b")'],
] as const;

test.skipIf(process.platform !== 'linux').each(NATIVE)(
  '%s held a worker for most of ten seconds',
  async (_name, expression) => {
    const { failure, cpuMs } = await backend.execute(request(`const f = () => ${expression};`, 1));
    expect(failure).toEqual({ verdict: 'time_limit', message: 'CPU time limit exceeded in native code' });
    // CPU time of the thread, not of the clock: well under the 2005 ms that any program is given.
    expect(cpuMs).toBeLessThan(1900);
    expect(cpuMs).toBeGreaterThan(1000);
  },
);

test('a thread that only waits spends no CPU time, though its interpreter never polls', () => {
  const meter = pulseMeter(new Int32Array(new SharedArrayBuffer(4)), 60_000);
  meter.tick();
  expect(meter.tick()).toBeLessThan(60_000);
});

test('polls clear an interpreter of the suspicion that it loops in native code', () => {
  const pulse = new Int32Array(new SharedArrayBuffer(4));
  const meter = pulseMeter(pulse, 1e-6);
  for (let tick = 0; tick < 10; tick++) {
    pulse[0] = tick;
    meter.tick();
  }
  expect(meter.tick()).toBeCloseTo(2e-6);
  meter.begin();
  expect(meter.tick()).toBeCloseTo(1e-6);
});
