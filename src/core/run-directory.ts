import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { HoneError } from './error.js';
import { appendDurably, syncDirectory, withPath, writeAtomic } from './io.js';
import type { EvaluationMetrics, StepMetrics, StepTiming } from './metrics.js';
import type { Policy } from './policy.js';
import type { Group } from './trajectory.js';

/** Version of the run folder's layout; a folder of another version is refused. */
export const RUN_VERSION = 1;

/** The content of `run.json`: what was asked for and where it ran. */
export interface Manifest {
  readonly version: typeof RUN_VERSION;
  /** Version of Hone that made the folder. */
  readonly hone: string;
  readonly config: unknown;
  readonly machine: { readonly [fact: string]: string | number };
}

type MetricsLine = StepMetrics | EvaluationMetrics;

/**
 * A run on disk: `run.json`, `metrics.jsonl` (reproducible), `timings.jsonl` (not), `trajectories/`, `evaluations/`,
 * `checkpoints/step-N/`. A step's files are written before its checkpoint, and the checkpoint appears by a rename:
 * after a crash the newest checkpoint is the truth, and `rewind` drops what came after it.
 */
export class RunDirectory {
  private eventFile: string | undefined;

  private constructor(
    readonly path: string,
    readonly manifest: Manifest,
  ) {}

  /** Errors: `run_exists` when the folder already holds a run, `unwritable`, `disk_full`. */
  static create(path: string, manifest: Manifest): RunDirectory {
    if (existsSync(join(path, 'run.json')))
      throw new HoneError(
        'run_exists',
        `${path} already holds a run`,
        `Continue it with --resume ${path}, or choose another folder.`,
      );
    withPath(path, () => {
      for (const part of ['trajectories', 'evaluations', 'checkpoints'])
        mkdirSync(join(path, part), { recursive: true });
    });
    writeAtomic(join(path, 'run.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    return new RunDirectory(path, manifest);
  }

  /** Errors: `not_a_run`, `run_damaged`, `run_version`. */
  static open(path: string): RunDirectory {
    const file = join(path, 'run.json');
    if (!existsSync(file))
      throw new HoneError(
        'not_a_run',
        `${path} is not a run folder: it has no run.json`,
        'Give the folder that `hone train` printed.',
      );
    let manifest: Manifest;
    try {
      manifest = JSON.parse(withPath(file, () => readFileSync(file, 'utf8'))) as Manifest;
    } catch (error) {
      if (error instanceof HoneError) throw error;
      throw new HoneError('run_damaged', `${file} is not valid JSON: ${(error as Error).message}`, 'Start a new run.');
    }
    if (manifest?.version !== RUN_VERSION)
      throw new HoneError(
        'run_version',
        `${file}: the run folder has version ${JSON.stringify(manifest?.version)}, this Hone reads version ${RUN_VERSION}`,
        'Resume it with the version of Hone that made it, or start a new run.',
      );
    return new RunDirectory(path, manifest);
  }

  get metricsFile(): string {
    return join(this.path, 'metrics.jsonl');
  }

  checkpoint(step: number): string {
    return join(this.path, 'checkpoints', `step-${step}`);
  }

  /** Steps that have a complete checkpoint, ascending. */
  checkpoints(): number[] {
    const directory = join(this.path, 'checkpoints');
    if (!existsSync(directory)) return [];
    return readdirSync(directory)
      .flatMap((name) => /^step-(\d+)$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  }

  /** Every complete line of `metrics.jsonl`; a last line cut short by a crash is left out. */
  metrics(): MetricsLine[] {
    if (!existsSync(this.metricsFile)) return [];
    const lines = readFileSync(this.metricsFile, 'utf8').split('\n');
    lines.pop();
    return lines.map((line, i) => {
      try {
        return JSON.parse(line) as MetricsLine;
      } catch {
        throw new HoneError('run_damaged', `${this.metricsFile}, line ${i + 1}: not valid JSON`, 'Start a new run.');
      }
    });
  }

  /** Appends lines durably, in one write. */
  appendMetrics(lines: readonly MetricsLine[]): void {
    appendDurably(this.metricsFile, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  /**
   * Appends a record to this session's TensorBoard file, which begins with `header`. A resumed run gets a file of its
   * own, as TensorBoard expects.
   */
  appendEvents(bytes: Uint8Array, header: Uint8Array): void {
    if (this.eventFile === undefined) {
      const sessions = readdirSync(this.path).filter((name) => name.startsWith('events.out.tfevents.')).length;
      this.eventFile = join(this.path, `events.out.tfevents.${String(sessions).padStart(4, '0')}.hone`);
      appendDurably(this.eventFile, header);
    }
    appendDurably(this.eventFile, bytes);
  }

  appendTiming(timing: StepTiming): void {
    appendDurably(join(this.path, 'timings.jsonl'), `${JSON.stringify(timing)}\n`);
  }

  /** `trajectories/step-N.jsonl.gz`: one group a line, the task by id. */
  writeTrajectories(step: number, groups: readonly Group[]): void {
    this.writeGroups(join(this.path, 'trajectories', `step-${step}.jsonl.gz`), groups);
  }

  /** `evaluations/step-N.jsonl.gz`: as `writeTrajectories`. */
  writeEvaluation(step: number, groups: readonly Group[]): void {
    this.writeGroups(this.evaluationFile(step), groups);
  }

  /** The groups of an evaluation. Errors: `not_found`, `run_damaged`. */
  readEvaluation(step: number): Group[] {
    const file = this.evaluationFile(step);
    const bytes = withPath(file, () => readFileSync(file));
    try {
      const lines = gunzipSync(bytes).toString('utf8').trimEnd().split('\n');
      return lines.map((line) => JSON.parse(line) as Group);
    } catch (error) {
      throw new HoneError('run_damaged', `${file} can't be read: ${(error as Error).message}`, 'Start a new run.');
    }
  }

  private evaluationFile(step: number): string {
    return join(this.path, 'evaluations', `step-${step}.jsonl.gz`);
  }

  private writeGroups(file: string, groups: readonly Group[]): void {
    const lines = groups.map((g) => `${JSON.stringify({ task: g.task, trajectories: g.trajectories })}\n`);
    writeAtomic(file, gzipSync(lines.join(''), { level: 1 }));
  }

  /** Writes a checkpoint that appears whole or not at all, then removes older ones beyond `keep` (the base is kept). */
  async saveCheckpoint(step: number, policy: Policy, schedulerState: unknown, keep: number): Promise<void> {
    const final = this.checkpoint(step);
    const temporary = `${final}.tmp`;
    rmSync(temporary, { recursive: true, force: true });
    withPath(temporary, () => mkdirSync(temporary, { recursive: true }));
    await policy.save(temporary, { optimiser: true, dtype: 'float32' });
    writeAtomic(
      join(temporary, 'state.json'),
      `${JSON.stringify({ step, policyVersion: policy.version, scheduler: schedulerState })}\n`,
    );
    withPath(final, () => {
      rmSync(final, { recursive: true, force: true });
      renameSync(temporary, final);
      syncDirectory(join(this.path, 'checkpoints'));
    });
    const old = this.checkpoints().filter((s) => s !== 0 && s !== step);
    for (const s of old.slice(0, Math.max(0, old.length - (keep - 1))))
      rmSync(this.checkpoint(s), { recursive: true, force: true });
  }

  /** The state stored beside a checkpoint's weights. */
  checkpointState(step: number): { readonly policyVersion: number; readonly scheduler: unknown } {
    const file = join(this.checkpoint(step), 'state.json');
    try {
      return JSON.parse(withPath(file, () => readFileSync(file, 'utf8')));
    } catch (error) {
      if (error instanceof HoneError) throw error;
      throw new HoneError(
        'run_damaged',
        `${file} is not valid JSON`,
        `Remove ${basename(this.checkpoint(step))} and resume from the one before.`,
      );
    }
  }

  /** Drops everything recorded after `step`, so that what follows is written as if nothing had happened. */
  rewind(step: number): void {
    const kept = this.metrics().filter((line) => line.step <= step);
    writeAtomic(this.metricsFile, kept.map((line) => `${JSON.stringify(line)}\n`).join(''));
    for (const part of ['trajectories', 'evaluations', 'checkpoints']) {
      const directory = join(this.path, part);
      for (const name of readdirSync(directory)) {
        const n = Number(/step-(\d+)/.exec(name)?.[1] ?? Number.NaN);
        if (n > step || name.endsWith('.tmp')) rmSync(join(directory, name), { recursive: true, force: true });
      }
    }
  }
}
