import { createHash } from 'node:crypto';
import type { Task } from '../core/task.js';
import type { Limits } from '../sandbox/index.js';

/** Raised when the sandbox or the verifier comes to judge differently, so that stored keys do not lie. */
const RULES = 3;

/** SHA-256 (hex) of all that a verdict depends on. */
export function contentKey(parts: {
  readonly task: Pick<Task, 'language' | 'entryPoint' | 'hidden'>;
  /** Helpers that assert suites may use. */
  readonly helpers: string;
  readonly program: string;
  readonly toolchain: string;
  readonly limits: Limits;
  readonly comparator: string;
  readonly allTests: boolean;
}): string {
  const { task, limits } = parts;
  const text = JSON.stringify([
    RULES,
    task.language,
    task.entryPoint,
    task.hidden,
    parts.helpers,
    parts.program,
    parts.toolchain,
    [limits.cpuMs, limits.memoryBytes, limits.stackBytes, limits.outputBytes],
    parts.comparator,
    parts.allTests,
  ]);
  return createHash('sha256').update(text).digest('hex');
}
