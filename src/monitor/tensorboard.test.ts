import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventFileHeader, scalarEvent } from './tensorboard.js';

test('a record has the bytes that TensorBoard’s own EventFileWriter gives it', () => {
  const bytes = Buffer.from(scalarEvent(1, 3, [{ tag: 'a', value: 0.5 }])).toString('hex');
  expect(bytes).toBe('1700000000000000e7cef81e09000000000000f03f10032a0a0a080a0161150000003fa4692d17');
});

const python = spawnSync('python3', ['-c', 'import tensorboard.backend.event_processing.event_accumulator'], {
  stdio: 'ignore',
});

test.skipIf(python.status !== 0)('TensorBoard reads them back', () => {
  const directory = mkdtempSync(join(tmpdir(), 'hone-tb-'));
  try {
    const file = join(directory, 'events.out.tfevents.1.hone');
    writeFileSync(file, Buffer.concat([eventFileHeader(1), scalarEvent(2, 3, [{ tag: 'a/b', value: 0.5 }])]));
    const script = `
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
e = EventAccumulator(${JSON.stringify(directory)}); e.Reload()
print([(s.step, s.value) for s in e.Scalars('a/b')])`;
    expect(spawnSync('python3', ['-c', script], { encoding: 'utf8' }).stdout.trim()).toBe('[(3, 0.5)]');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
if (python.status !== 0) console.log('skipped: TensorBoard reads them back (needs the Python package tensorboard)');
