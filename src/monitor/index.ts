export { stepMetrics } from './step-metrics.js';
export { eventFileHeader, type Scalar, scalarEvent, scalarsOf } from './tensorboard.js';
