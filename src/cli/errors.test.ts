import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HoneError } from '../core/error.js';
import { EXIT, reportError } from './errors.js';

/** The exit code and what was printed. */
function report(error: unknown, options: { readonly json?: boolean; readonly debug?: boolean } = {}): string {
  const stderr = new PassThrough();
  const environment = options.debug ? { HONE_DEBUG: '1' } : {};
  const exitCode = reportError(error, { json: options.json ?? false, stderr, environment });
  return `${stderr.read() ?? ''}exit ${exitCode}`;
}

/** The error that an operation of the real file system throws. */
function thrownBy(operation: () => unknown): unknown {
  try {
    operation();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('an error of the user is one message and one hint', () => {
  const error = new HoneError('checkpoint_truncated', 'model.safetensors ends after 512 bytes', 'Copy it again.');
  expect(report(error)).toMatchInlineSnapshot(`
    "hone: model.safetensors ends after 512 bytes
          Copy it again.
    exit 1"
  `);
  expect(report(error, { json: true })).toMatchInlineSnapshot(`
    "{"type":"error","code":"checkpoint_truncated","message":"model.safetensors ends after 512 bytes","hint":"Copy it again.","exitCode":1}
    exit 1"
  `);
  expect(report(error, { debug: true })).not.toContain(' at ');
  expect(report(new HoneError('usage', 'two models given', '', EXIT.usage))).toBe('hone: two models given\nexit 2');
});

test('an error of the machine says what is wrong with which path', () => {
  expect(report(thrownBy(() => readFileSync('/nowhere/at/all')))).toMatchInlineSnapshot(`
    "hone: no such file or folder: /nowhere/at/all
          Check the path.
    exit 1"
  `);
  expect(report(thrownBy(() => readFileSync('/')))).toContain('this is a folder, not a file');
});

test.skipIf(process.platform !== 'linux')('a full disk is named as such', () => {
  expect(report(thrownBy(() => writeFileSync('/dev/full', 'x')))).toMatchInlineSnapshot(`
    "hone: the disk is full
          Free some space, then resume: what was recorded so far is complete.
    exit 1"
  `);
});

test('a bug shows its stack only on request', () => {
  const bug = new TypeError('x is undefined');
  expect(report(bug)).toMatchInlineSnapshot(`
    "hone: internal error: x is undefined
          This is a bug in Hone. Report it in the issue tracker with the command and what HONE_DEBUG=1 prints.
    exit 1"
  `);
  expect(report(bug, { debug: true })).toContain('errors.test');
  expect(JSON.parse(report(bug, { json: true }).split('\n')[0]!)).toMatchObject({
    code: 'internal_error',
    exitCode: 1,
  });
  expect(report('just a string')).toContain('internal error: just a string');
});

test('an aborted run ends as an interrupted one', () => {
  expect(report(AbortSignal.abort().reason)).toBe('hone: interrupted\nexit 130');
});

test('a reader that goes away ends the program quietly', () => {
  const program = `
    import { exitOnBrokenPipe } from ${JSON.stringify(new URL('./errors.js', import.meta.url).href)};
    exitOnBrokenPipe();
    setInterval(() => process.stdout.write('line\\n'.repeat(10000)), 1);`;
  const script = `"$0" --input-type=module -e "$1" | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script, process.execPath, program], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  });
  expect({ stdout, stderr }).toEqual({ stdout: 'line\n143\n', stderr: '' });
});
