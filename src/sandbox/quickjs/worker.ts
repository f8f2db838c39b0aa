import { parentPort, workerData } from 'node:worker_threads';
import { DEFAULT_LIMITS } from '../limits.js';
import { schedulerTimes, threadId } from './clock.js';
import { execute, loadInterpreters } from './execute.js';
import type { Job, Ready, Reply } from './protocol.js';

/** What every program reads as the present: 2024-01-01 00:00 UTC. QuickJS seeds Math.random from it too. */
const NOW = Date.UTC(2024, 0, 1);

// The interpreter asks this thread for the time and the time zone; fixed answers make verdicts repeatable.
Date.now = () => NOW;
Date.prototype.getTimezoneOffset = () => 0;

const port = parentPort;
if (port === null) throw new Error('worker.js runs in a worker thread only');

/** Shared with the pool, which counts silence: see `pulseMeter`. */
const pulse = workerData as Int32Array;
const interpreters = await loadInterpreters(DEFAULT_LIMITS, () => void Atomics.add(pulse, 0, 1));
const thread = threadId();
const times = schedulerTimes(thread);

/** Milliseconds of this thread since an arbitrary start; waiting for a CPU does not count. */
const cpu = (): number => performance.now() - (times()?.waited ?? 0) / 1e6;

let queue: Promise<void> = Promise.resolve();
port.on('message', (job: Job) => {
  queue = queue.then(async () => {
    const cpuStart = cpu();
    const wallStart = performance.now();
    const outcome = await execute(interpreters, job);
    const wallMs = performance.now() - wallStart;
    const cpuMs = Math.min(wallMs, Math.max(0, cpu() - cpuStart));
    port.postMessage({ kind: 'reply', id: job.id, ...outcome, cpuMs, wallMs } satisfies Reply);
  });
});
port.postMessage({ kind: 'ready', thread } satisfies Ready);
