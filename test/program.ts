import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running `hone` process; `done` resolves when it has ended. */
export interface Program {
  readonly child: ChildProcess;
  readonly done: Promise<Finished>;
}

/** Starts the built program with no standard input. `onOutput` sees standard output as it comes. */
export function start(args: readonly string[], onOutput?: (text: string, child: ChildProcess) => void): Program {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    onOutput?.(text, child);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const done = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, done };
}

export const hone = (...args: string[]): Promise<Finished> => start(args).done;

/** A folder that is removed when the tests of the file have ended. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hone-test-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Settings that make a whole run take seconds. */
export const SHORT = [
  '--steps',
  '4',
  '--prompts-per-step',
  '4',
  '--group-size',
  '4',
  '--evaluate-every',
  '2',
  '--evaluation-tasks',
  '4',
  '--evaluation-samples',
  '2',
  '--interim-samples',
  '1',
  '--threads',
  '2',
  '--workers',
  '2',
];
