import { existsSync, readFileSync } from 'node:fs';
import { HoneError } from './error.js';

/** Values as the lines of a JSONL file. */
export function recordLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The records of a run's JSONL file, each an object that names its step; none where there is no file, and without a
 * last line that a crash cut short. Errors: `run_damaged` naming file and line, with `hint`.
 */
export function readRecords<T extends { readonly step: number }>(file: string, hint = 'Start a new run.'): T[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line, i) => {
      const value = parse(line) as T | undefined;
      if (typeof value !== 'object' || value === null || !Number.isInteger((value as { step?: unknown }).step))
        throw new HoneError('run_damaged', `${file}, line ${i + 1}: not a record of a step`, hint);
      return value;
    });
}
