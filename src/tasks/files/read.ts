import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { HoneError } from '../../core/error.js';
import { withPath } from '../../core/io.js';
import type { Task } from '../../core/task.js';
import { RowError, taskFromRow, tooDeep } from './rows.js';

export interface TaskFile {
  readonly tasks: readonly Task[];
  /** Numbers of the lines that were skipped, from 1. */
  readonly skipped: readonly number[];
  /** For each skipped line, `FILE:LINE: what is wrong`. */
  readonly problems: readonly string[];
}

export interface ReadOptions {
  /** What to do with a line that is no task: refuse the file (default) or leave the line out and say so. */
  readonly onBadLine?: 'refuse' | 'skip';
}

const NEWLINE = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true });

function readBytes(path: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = withPath(path, () => readFileSync(path));
  } catch (error) {
    if (error instanceof HoneError && error.code === 'unwritable') {
      throw new HoneError('unreadable', `not allowed to read ${path}`, 'Change its permissions or copy it.');
    }
    throw error;
  }
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes);
  } catch (error) {
    throw new HoneError(
      'bad_gzip',
      `${path} is a damaged gzip file: ${(error as Error).message}`,
      'Fetch or compress it again.',
    );
  }
}

function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  // A byte order mark is no part of the first line.
  let from = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (from < bytes.length) {
    const end = bytes.indexOf(NEWLINE, from);
    const to = end < 0 ? bytes.length : end;
    yield bytes.subarray(from, to);
    from = to + 1;
  }
}

function parseLine(line: Uint8Array): Task | undefined {
  let text: string;
  try {
    text = utf8.decode(line);
  } catch {
    throw new RowError('not UTF-8 text');
  }
  if (text.trim() === '') return undefined;
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch (error) {
    throw new RowError(`not JSON: ${(error as Error).message}`);
  }
  const deep = tooDeep(row);
  if (deep !== undefined) throw new RowError(deep);
  return taskFromRow(row);
}

/**
 * Reads a task file: one JSON object a line, plain or gzipped, in our format, HumanEval's, HumanEval-X's or MBPP's
 * (docs/tasks.md). Blank lines are ignored.
 * Errors: `not_found`, `unreadable`, `bad_gzip`, `bad_task_line` (file, line and field named; also a repeated id),
 * `no_tasks`.
 */
export function readTaskFile(path: string, options: ReadOptions = {}): TaskFile {
  const bytes = readBytes(path);
  const tasks: Task[] = [];
  const skipped: number[] = [];
  const problems: string[] = [];
  const lineOf = new Map<string, number>();
  let number = 0;
  for (const line of linesOf(bytes)) {
    number++;
    try {
      const task = parseLine(line);
      if (task === undefined) continue;
      const earlier = lineOf.get(task.id);
      if (earlier !== undefined) throw new RowError(`id "${task.id}" was already used on line ${earlier}`);
      lineOf.set(task.id, number);
      tasks.push(task);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      skipped.push(number);
      problems.push(`${path}:${number}: ${error.message}`);
    }
  }
  if (problems.length > 0 && options.onBadLine !== 'skip') {
    const more = problems.length - 1;
    const others = skipped.slice(1, 6).join(', ') + (more > 5 ? ', …' : '');
    throw new HoneError(
      'bad_task_line',
      `${problems[0]}${more > 0 ? ` (and ${more} more broken line${more > 1 ? 's' : ''}: ${others})` : ''}`,
      'Mend the line, or choose to skip broken lines; the row formats are described in docs/tasks.md.',
    );
  }
  if (tasks.length === 0) {
    throw new HoneError(
      'no_tasks',
      problems.length > 0 ? `${path} has no task: all its lines are broken, first ${problems[0]}` : `${path} is empty`,
      'Give a file with one task a line; the row formats are described in docs/tasks.md.',
    );
  }
  return { tasks, skipped, problems };
}
