/** The engine in a worker thread: ONNX Runtime for Node blocks its thread for the length of every run. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { readCheckpoint, writeCheckpoint } from '../checkpoint/checkpoint.js';
import { Engine } from './engine.js';
import { type CallMessage, type Calls, errorData, type Method, type ReplyMessage } from './protocol.js';

let engine: Engine | undefined;

function opened(): Engine {
  if (engine === undefined) throw new Error('the engine is not open');
  return engine;
}

type Handlers = {
  readonly [M in Method]: (args: Calls[M]['args'], onTokens: (tokens: number) => void) => Promise<Calls[M]['result']>;
};

const handlers: Handlers = {
  async open([config, eosId, source, limits]) {
    const created = await Engine.create(config, eosId, limits);
    let version = 0;
    if (source.kind === 'fresh') created.initialise(source.seed);
    else version = await readCheckpoint(source.directory, created.store);
    engine = created;
    return { parameters: created.store.parameterCount, version };
  },
  sample: ([requests, options], onTokens) => opened().sample(requests, options, onTokens),
  score: ([sequences, options]) => opened().score(sequences, options),
  step: ([sequences, optimiser, options]) => opened().step(sequences, optimiser, options),
  save: async ([directory, text, options]) => {
    writeCheckpoint(directory, text, opened().store, options);
    return undefined;
  },
};

async function answer(port: MessagePort, { id, method, args }: CallMessage): Promise<void> {
  const reply = (message: ReplyMessage): void => port.postMessage(message);
  try {
    const handler = handlers[method] as (args: unknown, onTokens: (tokens: number) => void) => Promise<unknown>;
    const value = await handler(args, (tokens) => reply({ id, kind: 'progress', tokens }));
    reply({ id, kind: 'result', value });
  } catch (error) {
    reply({ id, kind: 'error', error: errorData(error) });
  }
}

if (parentPort !== null) {
  const port = parentPort;
  // One call at a time, in the order in which they came.
  let last: Promise<void> = Promise.resolve();
  port.on('message', (message: CallMessage) => {
    last = last.then(() => answer(port, message));
  });
}
