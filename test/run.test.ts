import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunEvent } from '../src/core/events.js';
import { type Finished, hone, SHORT, sha256, start, temporaryDirectory } from './program.js';

const directory = temporaryDirectory();
const reference = join(directory, 'reference');
let finished: Finished;

const weights = (run: string): string => sha256(join(run, 'checkpoints', 'step-4', 'model.safetensors'));
const metrics = (run: string): string => readFileSync(join(run, 'metrics.jsonl'), 'utf8');

beforeAll(async () => {
  finished = await hone('train', ...SHORT, '--out', reference, '--json');
});

describe('a run', () => {
  test('ends well and tells everything in order', () => {
    expect(finished.stderr).toBe('');
    expect(finished.code).toBe(0);
    const events = finished.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RunEvent);
    const types = events.map((e) => e.type).filter((type) => type !== 'progress');
    expect(types).toEqual([
      'start',
      'estimate',
      'evaluation',
      'step',
      'evaluation',
      'step',
      'step',
      'evaluation',
      'step',
      'summary',
    ]);
    const estimate = events.find((e) => e.type === 'estimate');
    expect(estimate?.type === 'estimate' && estimate.estimate.minutes > 0 && estimate.estimate.sandboxSeconds > 0).toBe(
      true,
    );
  });

  test('leaves a folder with everything that the design names', () => {
    expect(readdirSync(reference).sort()).toEqual([
      'checkpoints',
      'evaluations',
      'events.out.tfevents.0000.hone',
      'metrics.jsonl',
      'run.json',
      'timings.jsonl',
      'trajectories',
    ]);
    expect(readdirSync(join(reference, 'checkpoints')).sort()).toEqual(['step-0', 'step-3', 'step-4']);
    expect(readdirSync(join(reference, 'checkpoints', 'step-4')).sort()).toEqual([
      'config.json',
      'model.safetensors',
      'optimizer.safetensors',
      'state.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(readdirSync(join(reference, 'trajectories')).length).toBe(4);
  });

  test('changes the weights', () => {
    expect(weights(reference)).not.toBe(sha256(join(reference, 'checkpoints', 'step-0', 'model.safetensors')));
  });

  test('repeats to the byte with the same seed and differs with another', async () => {
    const again = join(directory, 'again');
    const other = join(directory, 'other');
    await hone('train', ...SHORT, '--out', again);
    expect(metrics(again)).toBe(metrics(reference));
    expect(weights(again)).toBe(weights(reference));
    await hone('train', ...SHORT, '--seed', '2', '--out', other);
    expect(metrics(other)).not.toBe(metrics(reference));
  });
});

/** Kills the run once `when` holds, resumes it, and returns the folder. */
async function killedAndResumed(name: string, when: (run: string, output: string) => boolean): Promise<string> {
  const run = join(directory, name);
  let output = '';
  let killed = false;
  const kill = (): void => {
    if (killed || !when(run, output)) return;
    killed = true;
    program.child.kill('SIGKILL');
  };
  const program = start(['train', ...SHORT, '--out', run, '--json'], (text) => {
    output += text;
    kill();
  });
  // Some moments show only on disk.
  const timer = setInterval(kill, 1);
  const first = await program.done;
  clearInterval(timer);
  expect(first.signal).toBe('SIGKILL');
  const second = await hone('train', '--resume', run);
  expect(second.stderr).toBe('');
  expect(second.code).toBe(0);
  return run;
}

describe('kill -9 and --resume give the bits of the uninterrupted run', () => {
  const moments: readonly (readonly [string, (run: string, output: string) => boolean])[] = [
    ['before the first evaluation has ended', (_, output) => output.includes('"type":"estimate"')],
    ['after a step', (_, output) => output.includes('"type":"step"')],
    ['while a checkpoint is being written', (run) => existsSync(join(run, 'checkpoints', 'step-2.tmp'))],
    ['while the last evaluation runs', (run) => existsSync(join(run, 'trajectories', 'step-4.jsonl.gz'))],
  ];
  test.each(moments)('%s', async (name, when) => {
    const run = await killedAndResumed(name.replaceAll(' ', '-'), when);
    expect(metrics(run)).toBe(metrics(reference));
    expect(weights(run)).toBe(weights(reference));
    expect(sha256(join(run, 'checkpoints', 'step-4', 'optimizer.safetensors'))).toBe(
      sha256(join(reference, 'checkpoints', 'step-4', 'optimizer.safetensors')),
    );
  });

  test('resuming a finished run shows its result again and changes nothing', async () => {
    const before = metrics(reference);
    const again = await hone('train', '--resume', reference);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('pass@1');
    expect(metrics(reference)).toBe(before);
  });
});

describe('a damaged record is refused, not passed over', () => {
  /** A copy of the finished run whose last checkpoint is lost and whose metrics are changed. */
  const damaged = (name: string, change: (lines: string[]) => string[]): string => {
    const run = join(directory, name);
    cpSync(reference, run, { recursive: true });
    rmSync(join(run, 'checkpoints', 'step-4'), { recursive: true });
    const file = join(run, 'metrics.jsonl');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(
      file,
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    return run;
  };
  test.each([
    ['emptied', () => [], 'no evaluation of the base policy'],
    ['shortened', (lines: string[]) => lines.slice(0, 1), 'see step 1'],
    ['doubled', (lines: string[]) => [...lines, ...lines], 'more than one evaluation of the base policy'],
    ['foreign', (lines: string[]) => ['null', ...lines], 'line 1'],
  ])('%s', async (name, change, message) => {
    const run = damaged(name, change);
    const before = metrics(run);
    const result = await hone('train', '--resume', run);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(message);
    expect(metrics(run)).toBe(before);
  });
});

test('an interrupted run ends at once with the signal, says how to continue, and leaves nothing locked for good', async () => {
  const run = join(directory, 'interrupted');
  const program = start(['train', ...SHORT, '--out', run, '--json'], (text, child) => {
    if (text.includes('"type":"step"')) child.kill('SIGINT');
  });
  const { signal, stderr } = await program.done;
  expect(signal).toBe('SIGINT');
  expect(stderr).toContain('--resume');
  expect(stderr).not.toContain('terminate called');
  expect((await hone('train', '--resume', run)).code).toBe(0);
  expect(metrics(run)).toBe(metrics(reference));
});

test('a reader that goes away ends the run without an abort', async () => {
  const program = start(['train', ...SHORT, '--out', join(directory, 'piped')], (_, child) => child.stdout?.destroy());
  const { stderr, signal } = await program.done;
  expect(stderr).toBe('');
  expect(signal).toBe('SIGTERM');
});
