import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { exampleGroup, exampleTrajectory } from './fixtures.testing.js';
import { recoverDirectory, replaceDirectory } from './io.js';
import { claimDirectory } from './lock.js';
import type { EvaluationMetrics } from './metrics.js';
import { RUN_VERSION, RunDirectory } from './run-directory.js';

const root = mkdtempSync(join(tmpdir(), 'hone-run-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const manifest = { version: RUN_VERSION, config: { seed: 1 }, versions: { hone: '1' }, machine: {} } as const;
const line = (step: number): EvaluationMetrics => ({
  kind: 'evaluation',
  step,
  split: 'heldout',
  tasks: 1,
  samples: 1,
  temperature: 1,
  passAt: {},
  infraErrors: 0,
});

test('a folder is opened as it was created, and never created twice', () => {
  const path = join(root, 'twice');
  RunDirectory.create(path, manifest);
  expect(RunDirectory.open(path).manifest).toEqual(manifest);
  expect(() => RunDirectory.create(path, manifest)).toThrow(/already holds a run/);
});

test('two runs started at once get folders of their own', () => {
  const parent = join(root, 'runs');
  const paths = [1, 2, 3].map(() => RunDirectory.createNext(parent, manifest).path);
  expect(paths).toEqual([1, 2, 3].map((n) => join(parent, `train-${n}`)));
});

test('a metrics line cut short by a crash is not read, and rewinding removes it', () => {
  const run = RunDirectory.create(join(root, 'cut'), manifest);
  run.appendMetrics([line(0), line(1), line(2)]);
  appendFileSync(run.metricsFile, '{"kind":"eval');
  expect(run.metrics().map((l) => l.step)).toEqual([0, 1, 2]);
  run.rewind(1);
  expect(readFileSync(run.metricsFile, 'utf8')).toBe(`${JSON.stringify(line(0))}\n${JSON.stringify(line(1))}\n`);
});

test('a damaged line in the middle is named', () => {
  const run = RunDirectory.create(join(root, 'damaged'), manifest);
  writeFileSync(run.metricsFile, `${JSON.stringify(line(0))}\noops\n`);
  expect(() => run.metrics()).toThrow(/metrics\.jsonl, line 2/);
});

test('rewinding drops files of later steps and unfinished checkpoints, and keeps the rest', () => {
  const run = RunDirectory.create(join(root, 'rewind'), manifest);
  for (const name of ['step-0', 'step-3', 'step-4', 'step-5.tmp']) mkdirSync(join(run.path, 'checkpoints', name));
  for (const step of [1, 3, 4]) writeFileSync(join(run.path, 'trajectories', `step-${step}.jsonl.gz`), '');
  expect(run.checkpoints()).toEqual([0, 3, 4]);
  run.rewind(3);
  expect(readdirSync(join(run.path, 'checkpoints')).sort()).toEqual(['step-0', 'step-3']);
  expect(readdirSync(join(run.path, 'trajectories')).sort()).toEqual(['step-1.jsonl.gz', 'step-3.jsonl.gz']);
});

test('a run that a living process holds cannot be claimed, one of a dead process can', async () => {
  const run = RunDirectory.create(join(root, 'claimed'), manifest);
  const claim = () => claimDirectory(run.path);
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  writeFileSync(join(run.path, 'run.lock'), String(other.pid));
  expect(claim).toThrow(`in use by process ${other.pid}`);
  other.kill('SIGKILL');
  await new Promise((resolve) => other.on('exit', resolve));
  const lock = claim();
  expect(claim).toThrow(/in use by process/);
  lock.release();
  expect(existsSync(join(run.path, 'run.lock'))).toBe(false);
});

test.skipIf(process.platform !== 'linux')(
  'a lock whose process number another process has got since is taken over',
  () => {
    const run = RunDirectory.create(join(root, 'recycled'), manifest);
    writeFileSync(join(run.path, 'run.lock'), `${process.ppid} 1`);
    claimDirectory(run.path).release();
  },
);

test('trajectories are stored with rewards and credit, so that later stages can be run again', () => {
  const run = RunDirectory.create(join(root, 'stored'), manifest);
  const group = exampleGroup('accepted', 'wrong_answer');
  const [winner] = group.trajectories;
  const terms = { loss: new Float32Array(3), gradient: new Float32Array(3), clipped: new Int8Array(3) };
  run.writeTrajectories({
    step: 7,
    groups: [group],
    rewards: [[{ value: 1, parts: { tests: 1 } }, 'drop']],
    surviving: 1,
    trained: [{ trajectory: winner!, credit: Float32Array.of(0.5, 0.5, 0.5), terms }],
  });
  const stored = JSON.parse(gunzipSync(readFileSync(join(run.path, 'trajectories', 'step-7.jsonl.gz'))).toString());
  expect(stored).toMatchObject({ rewards: [{ value: 1 }, 'drop'], credit: { 's1-g0-m0': [0.5, 0.5, 0.5] } });
  expect(stored.trajectories).toEqual(JSON.parse(JSON.stringify(group.trajectories)));
  expect(stored.task.id).toBe(exampleTrajectory('accepted').taskId);
});

test('a replaced folder is whole at every moment', async () => {
  const path = join(root, 'replaced');
  const fill = (text: string) => async (directory: string) => writeFileSync(join(directory, 'file'), text);
  await replaceDirectory(path, fill('one'));
  await expect(
    replaceDirectory(path, async (directory) => {
      writeFileSync(join(directory, 'file'), 'half');
      throw new Error('stopped');
    }),
  ).rejects.toThrow('stopped');
  expect(readFileSync(join(path, 'file'), 'utf8')).toBe('one');
  await replaceDirectory(path, fill('two'));
  expect(readFileSync(join(path, 'file'), 'utf8')).toBe('two');
  expect(readdirSync(root).filter((name) => name.startsWith('replaced'))).toEqual(['replaced']);
});

test('a replacement cut short between its two renames is undone', () => {
  const path = join(root, 'recovered');
  mkdirSync(`${path}.old`);
  recoverDirectory(path);
  expect(existsSync(path)).toBe(true);
});
