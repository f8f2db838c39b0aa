export { type Evaluation, type EvaluationOptions, evaluate, summarise } from './evaluate.js';
export { bootstrapMean, passAtK } from './pass-at-k.js';
