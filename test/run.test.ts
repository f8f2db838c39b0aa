import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
