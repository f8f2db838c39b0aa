export { languages } from './languages/index.js';
export * from './sandbox.js';
export { decode, encode, MAX_DEPTH, numberOf, TAG, tag, toWire } from './wire.js';
