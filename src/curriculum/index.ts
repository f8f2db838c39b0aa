export { shuffled } from './shuffled.js';
export { type UniformOptions, uniform } from './uniform.js';
