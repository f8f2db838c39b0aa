export { languages } from './languages/index.js';
export { DEFAULT_LIMITS, type LimitKind, type Limits } from './limits.js';
export * from './sandbox.js';
export { decode, encode, MAX_DEPTH, numberOf, TAG, tag, toWire } from './wire.js';
