import { parentPort } from 'node:worker_threads';
import type { Job } from './protocol.js';

// A real worker with the faults that `pool.test.ts` asks for by words in a program's source.
const port = parentPort;
if (port === null) throw new Error('faulty.test.worker.js runs in a worker thread only');

// Listens after the worker proper, which only takes note of a job then: what happens here happens before it runs.
await import('./worker.js');
port.on('message', ({ id, source }: Job) => {
  const reply = { kind: 'reply', id, calls: [], assertions: [], stdout: '', cpuMs: 0, wallMs: 0 };
  if (source.includes('STALL')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (source.includes('NO JSON')) port.postMessage({ ...reply, calls: [{ kind: 'returned', text: '{' }] });
  if (source.includes('NO CALLS')) port.postMessage({ ...reply, calls: undefined });
  if (source.includes('NOTHING')) port.postMessage(null);
  if (source.includes('OTHER PROGRAM')) port.postMessage({ ...reply, id: id + 1 });
  if (source.includes('THROW')) throw new Error('as asked');
});
