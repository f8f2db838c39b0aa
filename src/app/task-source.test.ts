import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exampleGroup, exampleTask } from '../core/fixtures.testing.js';
import type { Policy } from '../core/policy.js';
import { createPolicy, trainBpe } from '../policy/index.js';
import { splitOf, synthTasks } from '../tasks/index.js';
import { DEFAULTS, type TrainConfig } from './config.js';
import { solvedExamples } from './solved.js';
import { fileHash, openTaskSource } from './task-source.js';

const directory = mkdtempSync(join(tmpdir(), 'hone-tasks-'));
let policy: Policy;
beforeAll(async () => {
  policy = await createPolicy({
    config: {
      hidden_size: 8,
      num_hidden_layers: 1,
      num_attention_heads: 1,
      intermediate_size: 8,
      vocab_size: 257,
      max_position_embeddings: 64,
      eos_token_id: 0,
    },
    tokenizerJson: trainBpe([''], 257, ['<|end|>']),
    seed: 1,
    threads: 1,
  });
});
afterAll(async () => {
  await policy.close();
  rmSync(directory, { recursive: true, force: true });
});

function config(tasks: TrainConfig['tasks']): TrainConfig {
  return { ...DEFAULTS, model: 'models/base', tasks, threads: 1, workers: 1, evaluationTasks: 8 };
}

function file(name: string, ids: readonly string[], changes = {}): TrainConfig {
  const path = join(directory, name);
  writeFileSync(path, ids.map((id) => `${JSON.stringify({ ...exampleTask(id), ...changes })}\n`).join(''));
  return config({ kind: 'file', path, onBadLine: 'refuse', sha256: fileHash(path), holdout: 0.25 });
}

const ids = (n: number): string[] => Array.from({ length: n }, (_, i) => `t${i}`);

test('held-out tasks of a file are never trained on', () => {
  const source = openTaskSource(file('split.jsonl', ids(12)), ['javascript'], policy);
  const held = source.evaluation.map((t) => t.id);
  const trained = new Set(Array.from({ length: 50 }, (_, i) => source.taskAt(i).id));
  expect(held).toHaveLength(3);
  expect(trained.size).toBe(9);
  for (const id of held) expect(trained.has(id)).toBe(false);
});

test('with nothing held out the run says so', () => {
  const source = openTaskSource(file('one.jsonl', ['only']), ['javascript'], policy);
  expect(source.split).toBe('training');
  expect(source.warnings.join()).toContain('no task is held out');
});

test('a file that has changed since the run began is refused', () => {
  const run = file('changed.jsonl', ids(4));
  writeFileSync(join(directory, 'changed.jsonl'), `${JSON.stringify(exampleTask())}\n`);
  expect(() => openTaskSource(run, ['javascript'], policy)).toThrow(/not the file that this run began with/);
});

test('a prompt that fills the context is refused by task, before anything runs', () => {
  const run = file('long.jsonl', ids(4), { prompt: 'x'.repeat(64) });
  expect(() => openTaskSource(run, ['javascript'], policy)).toThrow(/prompt of task t0 has 64 tokens/);
});

test('generated tasks in a language that cannot be judged are refused', () => {
  const run = config({ kind: 'synth', languages: ['javascript', 'python'], difficulty: [1, 2], evaluate: 'heldout' });
  expect(() => openTaskSource(run, ['javascript'], policy)).toThrow(/in python, which can't be judged here/);
});

test('generated evaluation tasks are the same for every seed and of another split than those trained on', () => {
  const tasks = { kind: 'synth', languages: ['javascript'], difficulty: [2, 3], evaluate: 'heldout' } as const;
  const sources = [1, 2].map((seed) =>
    openTaskSource(
      { ...config({ ...tasks, difficulty: [2, 3], languages: ['javascript'] }), seed },
      ['javascript'],
      policy,
    ),
  );
  expect(sources[0]!.evaluation).toEqual(sources[1]!.evaluation);
  expect(sources[0]!.taskAt(0).id).not.toBe(sources[1]!.taskAt(0).id);
  const heldout = synthTasks({ seed: 0, split: 'heldout', language: 'javascript', difficulty: [2, 3], count: 8 });
  expect(sources[0]!.evaluation.map((t) => t.id)).toEqual(heldout.map((t) => t.id));
  for (const { spec } of heldout) expect(splitOf(spec)).toBe('heldout');
});

test('solved examples failed in every base sample; the most often solved come first', () => {
  const base = [
    exampleGroup('wrong_answer', 'wrong_answer'),
    exampleGroup('accepted', 'wrong_answer'),
    exampleGroup('compile_error', 'wrong_answer'),
  ];
  const trained = [
    exampleGroup('accepted', 'wrong_answer'),
    exampleGroup('accepted', 'accepted'),
    exampleGroup('accepted', 'accepted'),
  ];
  expect(solvedExamples(base, trained, 3).map((e) => e.beforeVerdict)).toEqual(['compile_error', 'wrong_answer']);
  expect(solvedExamples(base, base, 3)).toEqual([]);
});
