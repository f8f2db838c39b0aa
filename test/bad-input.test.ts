import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BASE_MODEL } from '../src/app/package.js';
import { exampleTask } from '../src/core/fixtures.testing.js';
import { type Finished, hone, SHORT, sha256, temporaryDirectory } from './program.js';

const directory = temporaryDirectory();

/** One message on standard error that names what is wrong, no stack, the expected exit code. */
function refused(result: Finished, exitCode: number, ...mentions: (string | RegExp)[]): void {
  expect(result.code).toBe(exitCode);
  expect(result.stderr).toMatch(/^hone: /m);
  expect(result.stderr).not.toMatch(/\n\s+at /);
  for (const mention of mentions) expect(result.stderr).toMatch(mention);
}

/** A copy of the base policy, changed by `change`. */
function damaged(name: string, change: (copy: string) => void): string {
  const copy = join(directory, name);
  cpSync(BASE_MODEL, copy, { recursive: true });
  change(copy);
  return copy;
}

function taskFile(name: string, ...lines: string[]): string {
  const file = join(directory, name);
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
}

const good = (id: string): string => JSON.stringify(exampleTask(id));

describe('the command line', () => {
  test('an unknown flag is named and a near one suggested', async () => {
    refused(await hone('train', '--step', '3'), 2, '--step', '--steps');
  });
  test('an unknown command', async () => {
    refused(await hone('trian'), 2, 'trian');
  });
  test('a number out of range', async () => {
    refused(await hone('train', '--group-size', '1'), 2, '--group-size', 'at least 2');
    refused(await hone('train', '--steps', 'many'), 2, '--steps', 'whole number');
  });
  test('settings beside --resume', async () => {
    refused(await hone('train', '--resume', directory, '--steps', '9'), 2, '--steps');
  });
  test('the message is JSON where JSON was asked for', async () => {
    const { stderr, code } = await hone('train', '--steps', '0', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ type: 'error', exitCode: 2 });
  });
  test.each(['', 'train', 'eval', 'sample', 'pretrain', 'doctor'])('hone %s --help has examples', async (word) => {
    const { stdout, code } = await hone(...(word === '' ? [] : [word]), '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Examples:');
  });
});

describe('the checkpoint', () => {
  test('a missing one', async () => {
    refused(await hone('train', '--model', join(directory, 'nowhere')), 1, 'nowhere');
  });
  test('a truncated one', async () => {
    const model = damaged('truncated', (copy) => truncateSync(join(copy, 'model.safetensors'), 100_000));
    refused(await hone('train', '--model', model), 1, 'model.safetensors', /truncated|short|bytes/);
  });
  test('a tokenizer that does not fit the model', async () => {
    const model = damaged('mismatch', (copy) => {
      const file = join(copy, 'tokenizer.json');
      const json = JSON.parse(readFileSync(file, 'utf8'));
      json.model.vocab['one too many'] = 999_999;
      writeFileSync(file, JSON.stringify(json));
    });
    refused(await hone('eval', '--model', model), 1, 'tokenizer.json', '999999');
  });
  test('a config with a wrong field', async () => {
    const model = damaged('config', (copy) => {
      const file = join(copy, 'config.json');
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), num_hidden_layers: 'six' }));
    });
    refused(await hone('eval', '--model', model), 1, 'config.json', 'num_hidden_layers');
  });
});

describe('the task file', () => {
  test('a broken line is named and nothing is started', async () => {
    const file = taskFile('broken.jsonl', good('a'), '{"version": 1, "id": ', good('b'));
    const out = join(directory, 'never');
    refused(await hone('train', ...SHORT, '--tasks', file, '--out', out), 1, /broken\.jsonl.*2/);
    expect(existsSync(out)).toBe(false);
  });
  test('broken lines are skipped when told to, and said so', async () => {
    const file = taskFile('skipped.jsonl', ...Array.from({ length: 12 }, (_, i) => good(`t${i}`)), 'not json');
    const result = await hone(
      'train',
      ...SHORT,
      '--tasks',
      file,
      '--skip-bad-lines',
      '--out',
      join(directory, 'skipped'),
    );
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/skipped.*skipped\.jsonl.*13/);
  });
  test('a task whose own reference fails its tests is named', async () => {
    const wrong = JSON.stringify({ ...exampleTask('wrong'), reference: '  return n;\n}' });
    const file = taskFile('reference.jsonl', good('a'), good('b'), wrong, good('c'));
    const result = await hone(
      'train',
      ...SHORT,
      '--tasks',
      file,
      '--steps',
      '1',
      '--out',
      join(directory, 'reference'),
    );
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('warning: task wrong: its own reference does not pass its tests (wrong_answer)');
    expect(result.stdout).not.toContain('task a:');
  });
  test('a language that cannot be judged here', async () => {
    const file = taskFile('cobol.jsonl', JSON.stringify({ ...exampleTask(), language: 'cobol' }));
    refused(await hone('train', '--tasks', file, '--out', join(directory, 'cobol')), 1, 'cobol', 'double');
  });
  test('an empty and a missing file', async () => {
    refused(await hone('train', '--tasks', taskFile('empty.jsonl')), 1, 'empty.jsonl');
    refused(await hone('train', '--tasks', join(directory, 'absent.jsonl')), 1, 'absent.jsonl');
  });
});

describe('the run folder', () => {
  test('a path that cannot be a folder', async () => {
    const file = taskFile('plain-file', 'x');
    refused(await hone('train', ...SHORT, '--out', join(file, 'run')), 1, 'plain-file');
  });
  test('a folder that already holds a run', async () => {
    const run = join(directory, 'taken');
    mkdirSync(run);
    writeFileSync(join(run, 'run.json'), '{}');
    refused(await hone('train', '--out', run), 1, 'taken', '--resume');
  });
  test('no run, another version, damaged', async () => {
    refused(await hone('train', '--resume', directory), 1, 'run.json');
    const other = join(directory, 'other-version');
    mkdirSync(other);
    writeFileSync(join(other, 'run.json'), JSON.stringify({ version: 99 }));
    refused(await hone('train', '--resume', other), 1, '99');
    writeFileSync(join(other, 'run.json'), '{"version"');
    refused(await hone('train', '--resume', other), 1, 'run.json', 'JSON');
    writeFileSync(join(other, 'run.json'), JSON.stringify({ version: 1, config: { steps: -1 } }));
    refused(await hone('train', '--resume', other), 1, 'config');
  });
});

test('a step that ruins the weights stops the run, and the last good checkpoint stays', async () => {
  const run = join(directory, 'diverged');
  const result = await hone('train', ...SHORT, '--learning-rate', '1e30', '--warmup-steps', '0', '--out', run);
  refused(result, 1, 'weights', 'learning rate', join('diverged', 'checkpoints', 'step-0'));
  const model = join(run, 'checkpoints', 'step-0', 'model.safetensors');
  expect(readdirSync(join(run, 'checkpoints'))).toEqual(['step-0']);
  expect(existsSync(model)).toBe(true);
  expect(existsSync(join(run, 'run.lock'))).toBe(false);
});

/** A small file system of its own, where this process may mount one. */
function mountSmall(at: string, size: string): boolean {
  mkdirSync(at, { recursive: true });
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', at]).status === 0;
}

const small = join(directory, 'small-disk');
const mounted = process.platform === 'linux' && process.getuid?.() === 0 && mountSmall(small, '24m');

test.skipIf(!mounted)('a full disk loses nothing already written, and the run continues elsewhere', async () => {
  try {
    const run = join(small, 'run');
    refused(await hone('train', ...SHORT, '--out', run), 1, 'space');
    expect(readFileSync(join(run, 'metrics.jsonl'), 'utf8').length).toBeGreaterThan(0);
    const moved = join(directory, 'moved');
    cpSync(run, moved, { recursive: true });
    expect((await hone('train', '--resume', moved)).code).toBe(0);
    const reference = join(directory, 'roomy');
    await hone('train', ...SHORT, '--out', reference);
    const weights = (path: string): string => sha256(join(path, 'checkpoints', 'step-4', 'model.safetensors'));
    expect(weights(moved)).toBe(weights(reference));
  } finally {
    spawnSync('umount', [small]);
  }
});
if (!mounted) console.log('skipped: a full disk (needs root on Linux, to mount a small file system)');
