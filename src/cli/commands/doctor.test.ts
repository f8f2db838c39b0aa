import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import {
  type Check,
  canTrain,
  checkBasePolicy,
  checkFolder,
  checkMemory,
  checkNode,
  doctor,
  printChecks,
} from './doctor.js';

const folder = mkdtempSync(join(tmpdir(), 'hone-doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));

function printed(checks: readonly Check[], json = false): string {
  const stream = new PassThrough();
  printChecks(checks, { json, stream });
  return String(stream.read());
}

test('this machine, which runs the tests, has what the main job needs', async () => {
  const checks = await doctor();
  const found = new Map(checks.map((check) => [check.name, check]));
  for (const name of ['node', 'cpu', 'onnxruntime-node', 'javascript'])
    expect(found.get(name)).toMatchObject({ status: 'ok', required: true });
  expect(found.get('javascript')?.detail).toMatch(/^programs are judged: quickjs \d/);
  expect(found.get('python')).toEqual({
    name: 'python',
    status: 'missing',
    required: false,
    enables: 'judging python programs',
    detail: 'this version cannot judge python programs, whatever is installed',
  });
});

test('an old Node is named with what to do', () => {
  expect(checkNode('20.0.0').status).toBe('ok');
  const check = checkNode('18.19.1');
  expect(canTrain([check])).toBe(false);
  expect(printed([check])).toMatchInlineSnapshot(`
    "missing  node  18.19.1
                   needed for everything
                   install Node 20 or later from https://nodejs.org

    hone train cannot run here: see what is missing above.
    "
  `);
});

test('little memory is a warning and stops nothing', () => {
  const check = checkMemory(300 * 2 ** 20, 2 * 2 ** 30);
  expect(canTrain([check])).toBe(true);
  expect(printed([check])).toMatchInlineSnapshot(`
    "warning  memory  300 MiB free of 2.0 GiB
                     the main job takes up to 1.0 GiB: close other programs, or lower --prompts-per-step

    hone train can run here.
    "
  `);
});

test('a folder that cannot be written to, or is none, is missing', async () => {
  expect((await checkFolder(folder)).status).toBe('ok');
  const check = await checkFolder(join(folder, 'absent'));
  expect(canTrain([check])).toBe(false);
  expect(printed([check]).replaceAll(folder, 'DIR')).toMatchInlineSnapshot(`
    "missing  disk  cannot write to DIR/absent: ENOENT: no such file or directory, access 'DIR/absent'
                   needed for recording runs
                   start from another folder, or record the run elsewhere with --out DIR

    hone train cannot run here: see what is missing above.
    "
  `);
});

test('a base policy that is absent or broken is missing, with its reason', async () => {
  expect(await checkBasePolicy(join(folder, 'absent'))).toMatchObject({ status: 'missing', required: true });
  writeFileSync(join(folder, 'config.json'), '{"hidden_size": ');
  const check = await checkBasePolicy(folder);
  expect(check.status).toBe('missing');
  expect(check.detail).toContain('config.json');
});

test('json is one object a check and the verdict', () => {
  const lines = printed([checkNode('20.1.0'), checkNode('18.0.0')], true)
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { type: 'check', name: 'node', status: 'ok' },
    { type: 'check', name: 'node', status: 'missing', enables: 'everything' },
    { type: 'doctor', ready: false },
  ]);
});
