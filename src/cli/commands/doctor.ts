import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import type { Command } from 'commander';
import { BASE_MODEL } from '../../app/package.js';
import { bytes, count, printable } from '../display/format.js';
import { createStyle, type DisplayStream } from '../display/stream.js';
import { EXIT } from '../errors.js';
import { createCommand, examples, jsonOption } from '../options.js';

/** One thing that Hone can use on this machine. */
export interface Check {
  readonly name: string;
  /** `warning`: usable, but something will be slow or may run out. */
  readonly status: 'ok' | 'warning' | 'missing';
  /** Whether `hone train` with its defaults needs it. */
  readonly required: boolean;
  /** What was found, or what is wrong. */
  readonly detail: string;
  /** What there is to do about it. */
  readonly cure?: string;
  /** What would work if it were there. */
  readonly enables?: string;
}

const GIB = 2 ** 30;
const MEMORY_WANTED = 1 * GIB;
const DISK_WANTED = 0.25 * GIB;

/** Looks at what is installed and what is missing; loads the real parts rather than trusting their presence. */
export async function doctor(): Promise<Check[]> {
  return [
    checkNode(process.versions.node),
    { name: 'cpu', status: 'ok', required: true, detail: `${availableParallelism()} cores` },
    checkMemory(freemem(), totalmem()),
    await checkFolder(process.cwd()),
    await checkRuntime(),
    await checkBasePolicy(BASE_MODEL),
    ...(await checkLanguages()),
  ];
}

/** Whether `hone train` can run with its defaults. */
export function canTrain(checks: readonly Check[]): boolean {
  return checks.every((check) => !check.required || check.status !== 'missing');
}

export function checkNode(version: string): Check {
  const ok = Number(version.split('.')[0]) >= 20;
  return {
    name: 'node',
    status: ok ? 'ok' : 'missing',
    required: true,
    detail: version,
    ...(!ok && { cure: 'install Node 20 or later from https://nodejs.org', enables: 'everything' }),
  };
}

export function checkMemory(free: number, total: number): Check {
  const detail = `${bytes(free)} free of ${bytes(total)}`;
  if (free >= MEMORY_WANTED) return { name: 'memory', status: 'ok', required: true, detail };
  const cure = `the main job takes up to ${bytes(MEMORY_WANTED)}: close other programs, or lower --prompts-per-step`;
  return { name: 'memory', status: 'warning', required: true, detail, cure };
}

/** The folder that runs are recorded in by default. */
export async function checkFolder(folder: string): Promise<Check> {
  const check = { name: 'disk', required: true };
  const elsewhere = 'start from another folder, or record the run elsewhere with --out DIR';
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const detail = `${bytes(free)} free in ${folder}`;
    if (free >= DISK_WANTED) return { ...check, status: 'ok', detail };
    return { ...check, status: 'warning', detail, cure: `free some space (a run takes tens of MiB), or ${elsewhere}` };
  } catch (error) {
    const detail = `cannot write to ${folder}: ${message(error)}`;
    return { ...check, status: 'missing', detail, cure: elsewhere, enables: 'recording runs' };
  }
}

async function checkRuntime(): Promise<Check> {
  const check = { name: 'onnxruntime-node', required: true };
  try {
    const { InferenceSession, env } = await import('onnxruntime-node');
    if (typeof InferenceSession.create !== 'function') throw new Error('it has no InferenceSession');
    return { ...check, status: 'ok', detail: `${env.versions.node ?? 'version unknown'}, loads` };
  } catch (error) {
    return {
      ...check,
      status: 'missing',
      detail: message(error),
      cure:
        `install it again for ${process.platform}-${process.arch}: ONNXRUNTIME_NODE_INSTALL=skip npm ci ` +
        '(its install script downloads CUDA libraries that Hone does not use; `skip` leaves them out)',
      enables: 'the embedded engine: train, eval, sample and pretrain',
    };
  }
}

export async function checkBasePolicy(directory: string): Promise<Check> {
  const check = { name: 'base policy', required: true };
  try {
    const { loadPolicy } = await import('../../policy/index.js');
    const policy = await loadPolicy(directory, { threads: 1 });
    const { parameters } = policy.capabilities;
    await policy.close();
    return { ...check, status: 'ok', detail: `${count(parameters)} parameters in ${directory}` };
  } catch (error) {
    return {
      ...check,
      status: 'missing',
      detail: message(error),
      cure: 'get models/base again from the package, or make it: hone pretrain --help',
      enables: 'hone train and hone eval without --model',
    };
  }
}

/** One check per language: those that programs can be judged in here and now, and those that tasks exist in besides. */
async function checkLanguages(): Promise<Check[]> {
  const check = (language: string) => ({
    name: language,
    required: language === 'javascript',
    enables: `judging ${language} programs`,
  });
  try {
    const { detect } = await import('../../sandbox/index.js');
    const { taskLanguages } = await import('../../tasks/index.js');
    const detections = await detect();
    const known = new Set(detections.map((detection) => detection.language));
    return [
      ...detections.map(({ language, available, version, how }): Check => {
        const { enables, ...rest } = check(language);
        return available
          ? { ...rest, status: 'ok', detail: `programs are judged: ${version}` }
          : { ...rest, enables, status: 'missing', detail: how };
      }),
      ...Object.keys(taskLanguages)
        .filter((language) => !known.has(language))
        .map(
          (language): Check => ({
            ...check(language),
            status: 'missing',
            detail: `this version cannot judge ${language} programs, whatever is installed`,
          }),
        ),
    ];
  } catch (error) {
    return [
      { ...check('javascript'), status: 'missing', detail: message(error), cure: 'install the packages again: npm ci' },
    ];
  }
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0]!;

/** Prints the checks: lines for people, or with `json` one object a check and one for the verdict. */
export function printChecks(
  checks: readonly Check[],
  { json = false, stream }: { readonly json?: boolean; readonly stream: DisplayStream },
): void {
  const ready = canTrain(checks);
  if (json) {
    for (const check of checks) stream.write(`${JSON.stringify({ type: 'check', ...check })}\n`);
    stream.write(`${JSON.stringify({ type: 'doctor', ready })}\n`);
    return;
  }
  const style = createStyle(stream);
  const name = Math.max(...checks.map((check) => check.name.length));
  for (const check of checks) {
    const line = `${check.status.padEnd(7)}  ${check.name.padEnd(name)}  ${printable(check.detail)}`;
    stream.write(`${check.status === 'ok' ? line : style.yellow(line)}\n`);
    const indent = ' '.repeat(9 + name + 2);
    if (check.enables !== undefined) stream.write(`${indent}needed for ${check.enables}\n`);
    if (check.cure !== undefined) stream.write(`${indent}${check.cure}\n`);
  }
  stream.write(ready ? '\nhone train can run here.\n' : '\nhone train cannot run here: see what is missing above.\n');
}

/** `hone doctor` */
export function doctorCommand(): Command {
  const command = createCommand('doctor', 'Show what works on this machine, what is missing and what it would enable.')
    .addOption(jsonOption())
    .action(async (options: { readonly json?: true }) => {
      const checks = await doctor();
      printChecks(checks, { json: options.json ?? false, stream: process.stdout });
      process.exitCode = canTrain(checks) ? EXIT.ok : EXIT.failure;
    });
  return examples(
    command,
    ['hone doctor', 'what works on this machine'],
    ['hone doctor --json', 'the same for programs; the exit code is 1 where hone train cannot run'],
  );
}
