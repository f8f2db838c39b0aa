import { gzipSync } from 'node:zlib';
import { writeAtomic } from '../../core/io.js';
import type { Task } from '../../core/task.js';

/** A task as one line of a task file, without any further fields that the object carries. */
export function taskLine(task: Task): string {
  const { version, id, language, description, entryPoint, prompt, visible, hidden, reference, difficulty } = task;
  const row = { version, id, language, description, entryPoint, prompt, visible, hidden, reference, difficulty };
  return `${JSON.stringify(row)}\n`;
}

/** Writes tasks one a line, gzipped when the path ends in `.gz`; the file appears whole or not at all. Errors: as `writeAtomic`. */
export function writeTaskFile(path: string, tasks: Iterable<Task>): void {
  const text = [...tasks].map(taskLine).join('');
  writeAtomic(path, path.endsWith('.gz') ? gzipSync(text) : text);
}
