export { DEFAULT_DIFFICULTY, DEFAULTS, type TrainConfig } from './config.js';
export { evaluatePolicy, sampleTask, verdictCounts } from './evaluation.js';
export { BASE_MODEL, VERSION } from './package.js';
export { PRETRAIN_DEFAULTS, type PretrainConfig } from './pretrain-config.js';
export { pretrain } from './pretraining.js';
export { withPolicy } from './session.js';
export { resumeTraining, startTraining } from './training.js';
