import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { learningRateAt, weightsAt } from '../src/app/pretrain-config.js';
import { hone, sha256, start, temporaryDirectory } from './program.js';

const directory = temporaryDirectory();
const TINY = [
  '--steps',
  '30',
  '--batch-size',
  '4',
  '--layers',
  '1',
  '--hidden-size',
  '16',
  '--heads',
  '2',
  '--intermediate-size',
  '16',
  '--vocab-size',
  '300',
  '--tokenizer-examples',
  '200',
  '--checkpoint-every',
  '10',
  '--evaluate-every',
  '100',
  '--card-tasks',
  '4',
  '--card-samples',
  '64',
  '--threads',
  '1',
];

test('a base policy is made from nothing, card and all, and a killed run continues to the same bits', async () => {
  const whole = join(directory, 'whole');
  const first = await hone('pretrain', ...TINY, '--out', whole);
  expect(first.stderr).toBe('');
  expect(first.code).toBe(0);
  expect(existsSync(`${whole}.partial`)).toBe(false);
  const card = readFileSync(join(whole, 'README.md'), 'utf8');
  expect(card).toContain('| javascript | 2–3 | 4 |');
  expect(card).toContain('nats per completion token');

  const killed = join(directory, 'killed');
  const program = start(['pretrain', ...TINY, '--out', killed, '--json'], (text, child) => {
    if (text.includes('"step":25')) child.kill('SIGKILL');
  });
  expect((await program.done).signal).toBe('SIGKILL');
  expect(existsSync(killed)).toBe(false);
  const other = await hone('pretrain', ...TINY, '--learning-rate', '0.01', '--out', killed);
  expect(other.code).toBe(1);
  expect(other.stderr).toContain('other settings');
  const second = await hone('pretrain', ...TINY, '--out', killed);
  expect(second.stdout).toMatch(/continuing from step (10|20)/);
  for (const file of ['model.safetensors', 'tokenizer.json', 'loss.jsonl', 'README.md'])
    expect(sha256(join(killed, file))).toBe(sha256(join(whole, file)));
}, 120_000);

test('a folder with other things in it is refused, and a damaged unfinished run is named', async () => {
  const full = join(directory, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'thesis.txt'), 'years of work');
  const refused = await hone('pretrain', ...TINY, '--out', full);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('not empty and holds no model');
  expect(readFileSync(join(full, 'thesis.txt'), 'utf8')).toBe('years of work');

  const damaged = join(directory, 'damaged');
  mkdirSync(join(`${damaged}.partial`, 'checkpoint'), { recursive: true });
  writeFileSync(join(`${damaged}.partial`, 'checkpoint', 'state.json'), '{"step');
  const broken = await hone('pretrain', ...TINY, '--out', damaged);
  expect(broken.code).toBe(1);
  expect(broken.stderr).toMatch(/state\.json is damaged/);
});

test('schedules: warm-up, cosine to a tenth; short programs first', () => {
  const config = { steps: 100, learningRate: 1, warmupSteps: 10 };
  expect([1, 10, 100].map((step) => learningRateAt(step, config))).toEqual([0.1, 1, expect.closeTo(0.1, 9)]);
  const ramp = { steps: 100, weightsFrom: [8, 0, 0, 0, 0], weightsTo: [0, 8, 0, 0, 0], rampShare: 0.5 };
  expect(weightsAt(0, ramp)).toEqual([8, 0, 0, 0, 0]);
  expect(weightsAt(25, ramp)).toEqual([4, 4, 0, 0, 0]);
  expect(weightsAt(90, ramp)).toEqual([0, 8, 0, 0, 0]);
});
