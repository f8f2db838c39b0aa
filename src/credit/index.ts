export { grpo, rloo } from './advantage.js';
export { maskTruncated, uniform } from './uniform.js';
