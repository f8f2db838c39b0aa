/** The library: the same parts that the command line is made of. */
export * from './app/index.js';
export * from './core/index.js';
export * as credit from './credit/index.js';
export * as curriculum from './curriculum/index.js';
export * as evaluation from './eval/index.js';
export * as loss from './loss/index.js';
export * as monitor from './monitor/index.js';
export * as policy from './policy/index.js';
export * as reward from './reward/index.js';
export * as rollout from './rollout/index.js';
export * as sandbox from './sandbox/index.js';
export * as tasks from './tasks/index.js';
export * as verify from './verify/index.js';
