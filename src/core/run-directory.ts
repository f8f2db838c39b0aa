import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { HoneError } from './error.js';
import { appendDurably, ioError, replaceDirectory, withPath, writeAtomic } from './io.js';
import type { EvaluationMetrics, StepMetrics, StepTiming } from './metrics.js';
import type { Policy } from './policy.js';
import { readRecords, recordLines } from './records.js';
import type { StepOutcome } from './train.js';
import type { Group } from './trajectory.js';

/** Version of the run folder's layout; a folder of another version is refused. */
export const RUN_VERSION = 1;

/** The content of `run.json`: what was asked for and where it ran. */
export interface Manifest {
  readonly version: typeof RUN_VERSION;
  readonly config: unknown;
  /** Versions of Hone, of Node and of the packages that the bits of the run depend on. */
  readonly versions: { readonly [name: string]: string };
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

  /** Creates `parent/train-N` for the first free N. */
  static createNext(parent: string, manifest: Manifest): RunDirectory {
    withPath(parent, () => mkdirSync(parent, { recursive: true }));
    for (let n = 1; ; n++) {
      const path = join(parent, `train-${n}`);
      try {
        // Not recursive: fails where another run has just taken the name.
        mkdirSync(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw ioError(error, path);
      }
      return RunDirectory.create(path, manifest);
    }
  }

  /** Errors: `run_exists` when the folder already holds a run, `unwritable`, `disk_full`. */
  static create(path: string, manifest: Manifest): RunDirectory {
    if (existsSync(join(path, 'run.json')))
      throw new HoneError(
        'run_exists',
        `${path} already holds a run`,
        `Continue it with --resume ${path}, or choose another folder.`,
      );
    makeEmpty(path);
    withPath(path, () => {
      for (const part of PARTS) mkdirSync(join(path, part), { recursive: true });
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
    return readRecords<MetricsLine>(this.metricsFile);
  }

  /** Appends lines durably, in one write. */
  appendMetrics(lines: readonly MetricsLine[]): void {
    appendDurably(this.metricsFile, recordLines(lines));
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

  /** Wall-clock seconds of the recorded steps. */
  secondsSpent(): number {
    return readRecords<StepTiming>(join(this.path, 'timings.jsonl'))
      .map((t) => t.sampleSeconds + t.verifySeconds + t.updateSeconds + t.otherSeconds)
      .reduce((a, b) => a + b, 0);
  }

  appendTiming(timing: StepTiming): void {
    appendDurably(join(this.path, 'timings.jsonl'), recordLines([timing]));
  }

  /**
   * `trajectories/step-N.jsonl.gz`: a group a line with its task, its rewards and, by trajectory id, the credit per
   * token of those trained on; everything that a later stage needs to be run again.
   */
  writeTrajectories(outcome: StepOutcome): void {
    const credit = new Map(outcome.trained.map(({ trajectory, credit }) => [trajectory.id, [...credit]]));
    const lines = outcome.groups.map(({ task, trajectories }, g) => ({
      task,
      rewards: outcome.rewards[g],
      credit: Object.fromEntries(trajectories.flatMap(({ id }) => (credit.has(id) ? [[id, credit.get(id)]] : []))),
      trajectories,
    }));
    writeLines(join(this.path, 'trajectories', `step-${outcome.step}.jsonl.gz`), lines);
  }

  /** `evaluations/step-N.jsonl.gz`: a group a line. */
  writeEvaluation(step: number, groups: readonly Group[]): void {
    writeLines(this.evaluationFile(step), groups);
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

  /** Writes a checkpoint that appears whole or not at all, then removes older ones beyond `keep` (the base is kept). */
  async saveCheckpoint(step: number, policy: Policy, schedulerState: unknown, keep: number): Promise<void> {
    await replaceDirectory(this.checkpoint(step), async (directory) => {
      await policy.save(directory, { optimiser: true, dtype: 'float32' });
      writeAtomic(join(directory, 'state.json'), `${JSON.stringify({ step, scheduler: schedulerState })}\n`);
    });
    const old = this.checkpoints().filter((s) => s !== 0 && s !== step);
    for (const s of old.slice(0, Math.max(0, old.length - (keep - 1))))
      rmSync(this.checkpoint(s), { recursive: true, force: true });
  }

  /** The state stored beside a checkpoint's weights. */
  checkpointState(step: number): { readonly scheduler: unknown } {
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

  /**
   * Checks that `metrics.jsonl` holds the evaluation of the base and every step up to `step` once, in order: only then
   * is the base that a comparison names the base. Errors: `run_damaged` naming what is missing.
   */
  checkRecord(step: number): void {
    const lines = this.metrics().filter((line) => line.step <= step);
    const steps = lines.filter((line) => line.kind === 'step').map((line) => line.step);
    const bases = lines.filter((line) => line.kind === 'evaluation' && line.step === 0).length;
    const wrong = Array.from({ length: step }, (_, i) => i + 1).find((n, i) => steps[i] !== n);
    const what =
      bases !== 1
        ? `${bases === 0 ? 'no' : 'more than one'} evaluation of the base policy`
        : wrong !== undefined || steps.length !== step
          ? `not the steps 1 to ${step} once each, in order (see step ${wrong ?? step + 1})`
          : undefined;
    if (what === undefined) return;
    throw new HoneError('run_damaged', `${this.metricsFile} holds ${what}`, 'Restore the file, or start a new run.');
  }

  /** Drops everything recorded after `step`, so that what follows is written as if nothing had happened. */
  rewind(step: number): void {
    for (const name of ['metrics.jsonl', 'timings.jsonl']) {
      const file = join(this.path, name);
      const kept = readRecords(file).filter((line) => line.step <= step);
      writeAtomic(file, recordLines(kept));
    }
    for (const part of PARTS) {
      const directory = join(this.path, part);
      if (!existsSync(directory)) continue;
      for (const name of readdirSync(directory)) {
        const n = Number(/step-(\d+)/.exec(name)?.[1] ?? Number.NaN);
        if (n > step || /\.(?:tmp|old)$/.test(name)) rmSync(join(directory, name), { recursive: true, force: true });
      }
    }
  }
}

/** The folders of a run. */
const PARTS = ['trajectories', 'evaluations', 'checkpoints'] as const;

/** Makes a folder, or takes one that is there and empty. Errors: `unwritable`, `not_empty`. */
function makeEmpty(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    // What Node reports of a parent on a read-only disk or behind a dangling link.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw ioError(error, path);
    throw new HoneError('unwritable', `${path} can't be made`, 'Choose a folder on a disk that can be written.');
  }
  if (withPath(path, () => readdirSync(path)).length > 0)
    throw new HoneError('not_empty', `${path} is not empty and holds no run`, 'Choose another folder.');
}

function writeLines(file: string, values: readonly unknown[]): void {
  writeAtomic(file, gzipSync(recordLines(values), { level: 1 }));
}
