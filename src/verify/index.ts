export { promptHelpers } from './asserts.js';
export { type Comparator, exact, floats, unordered } from './compare.js';
export { extractProgram } from './extract.js';
export { createVerifier, type VerifierOptions, verifierOn } from './verifier.js';
