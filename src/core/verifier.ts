import type { Evidence } from './evidence.js';
import type { Task } from './task.js';

/** Judges completions of a task: a ladder that stops at the first rung that fails. */
export interface Verifier {
  /** Languages that can be judged on this host now. */
  readonly languages: readonly string[];
  /** Evidence for each completion, in order. Never rejects because of what a program did. */
  verify(task: Task, completion: string): Promise<Evidence[]>;
  close(): Promise<void>;
}
