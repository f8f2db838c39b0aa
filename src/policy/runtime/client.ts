import { Worker } from 'node:worker_threads';
import { HoneError } from '../../core/error.js';
import { type CallMessage, type Calls, errorFrom, type Method, type ReplyMessage } from './protocol.js';

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((tokens: number) => void) | undefined;
}

/** Calls the engine in its worker. Every call settles: with the worker's answer, or with an error when it dies. */
export class EngineClient {
  private readonly worker: Worker;
  private readonly pending = new Map<number, Pending>();
  private nextId = 0;
  private ended: HoneError | undefined;

  constructor() {
    this.worker = new Worker(new URL('./worker.js', import.meta.url));
    // An idle engine does not keep the program alive; a call in flight does.
    this.worker.unref();
    this.worker.on('message', (message: ReplyMessage) => this.settle(message));
    this.worker.on('error', (error) => this.end(`its worker failed: ${error.message}`));
    this.worker.on('exit', (code) => this.end(`its worker ended with code ${code}`));
  }

  call<M extends Method>(
    method: M,
    args: Calls[M]['args'],
    onProgress?: (tokens: number) => void,
  ): Promise<Calls[M]['result']> {
    if (this.ended !== undefined) return Promise.reject(this.ended);
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onProgress });
      this.worker.ref();
      try {
        this.worker.postMessage({ id, method, args } satisfies CallMessage<M>);
      } catch (error) {
        this.forget(id);
        reject(error);
      }
    });
  }

  /** Ends the worker; calls in flight are rejected with `policy_closed`. */
  async close(): Promise<void> {
    this.fail(new HoneError('policy_closed', 'the policy has been closed', 'Load it again to go on.'));
    await this.worker.terminate();
  }

  private settle(message: ReplyMessage): void {
    const call = this.pending.get(message.id);
    if (call === undefined) return;
    switch (message.kind) {
      case 'progress':
        call.onProgress?.(message.tokens);
        return;
      case 'result':
        this.forget(message.id);
        call.resolve(message.value);
        return;
      case 'error':
        this.forget(message.id);
        call.reject(errorFrom(message.error));
        return;
    }
  }

  private forget(id: number): void {
    this.pending.delete(id);
    if (this.pending.size === 0) this.worker.unref();
  }

  private end(what: string): void {
    this.fail(new HoneError('engine_died', `the embedded engine stopped: ${what}`, 'Resume from the last checkpoint.'));
  }

  private fail(error: HoneError): void {
    this.ended ??= error;
    const calls = [...this.pending.values()];
    this.pending.clear();
    this.worker.unref();
    for (const call of calls) call.reject(this.ended);
  }
}
