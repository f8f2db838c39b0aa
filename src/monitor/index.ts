export { stepMetrics } from './step-metrics.js';
