import { availableParallelism, cpus, totalmem } from 'node:os';
import type { TrainConfig } from './config.js';
import { dependencyVersions, VERSION } from './package.js';

/** Versions that the bits of a run depend on. */
export function versions(): { [name: string]: string } {
  return {
    hone: VERSION,
    node: process.version,
    ...dependencyVersions('onnxruntime-node', 'quickjs-emscripten', '@huggingface/tokenizers'),
  };
}

/** Where a run was made. */
export function machine(config: TrainConfig): { [fact: string]: string | number } {
  return {
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    threads: config.threads,
  };
}
