import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/app/package.js';

/** A repository in small: the real scripts, a program of three lines, and stamps that say all is installed and built. */
let root: string;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

interface Lib {
  install(): void;
  sourceHash(): string;
  removeStale(): void;
  requireNode(version: string): void;
  countTests(report: object): { readonly passed: number; readonly failed: number; readonly skipped: number };
}
const lib = (): Promise<Lib> => import(pathToFileURL(join(root, 'scripts/lib.mjs')).href);

async function stamp(): Promise<void> {
  const lock = readFileSync(join(root, 'package-lock.json'));
  write('node_modules/.hone-lock-hash', createHash('sha256').update(lock).digest('hex'));
  write('dist/.hone-build-hash', (await lib()).sourceHash());
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'hone-scripts-'));
  cpSync(join(PACKAGE_ROOT, 'scripts'), join(root, 'scripts'), { recursive: true });
  write('package.json', '{ "name": "hone", "version": "0.0.0", "type": "module" }');
  write('package-lock.json', '{ "name": "hone", "lockfileVersion": 3, "packages": { "": { "name": "hone" } } }');
  write('tsconfig.json', '{}');
  write('src/cli/main.ts', 'export {};');
  write(
    'dist/src/cli/main.js',
    `const [command, ...rest] = process.argv.slice(2);
     process.on('SIGTERM', () => { console.log('saved'); process.exit(7); });
     console.log(JSON.stringify({ command, rest, hone: process.env.HONE_COMMAND }));
     if (rest[0] === 'wait') setInterval(() => {}, 1000); else process.exitCode = Number(rest[0] ?? 0);`,
  );
  await stamp();
});
afterEach(() => rmSync(root, { recursive: true }));

const start = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'scripts/start.mjs'), ...args], { encoding: 'utf8', cwd: root });

test('npm start passes arguments, output and the exit code of the main job, and prints nothing else', () => {
  expect(start('0', '--steps', '5')).toMatchObject({
    status: 0,
    stdout: `{"command":"train","rest":["0","--steps","5"],"hone":"node dist/src/cli/main.js"}\n`,
    stderr: '',
  });
  expect(start('3').status).toBe(3);
});

test('npm start passes a termination signal on and waits for the main job to end', async () => {
  const child = spawn(process.execPath, [join(root, 'scripts/start.mjs'), 'wait'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    if (output === '') child.kill('SIGTERM');
    output += chunk.toString();
  });
  const [code] = await once(child, 'close');
  expect({ code, output }).toEqual({
    code: 7,
    output: '{"command":"train","rest":["wait"],"hone":"node dist/src/cli/main.js"}\nsaved\n',
  });
});

test('npm start says what is wrong when the packages cannot be installed', () => {
  // A dependency that the lock file lacks: npm ci refuses without asking the network.
  write('package.json', '{ "name": "hone", "version": "0.0.0", "dependencies": { "left-pad": "1.3.0" } }');
  rmSync(join(root, 'node_modules'), { recursive: true });
  const { status, stdout, stderr } = start();
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('hone: the packages could not be installed: npm ci ended with code 1');
});

test('npm start compiles again when a source has changed, and stops where it does not compile', () => {
  write('src/cli/main.ts', 'export const changed = true;');
  write('scripts/build.mjs', 'process.exit(2);');
  const { status, stderr } = start('0');
  expect(status).toBe(1);
  expect(stderr).toContain('hone: the sources do not compile');
});

test('packages that npm installed by itself are not installed again', async () => {
  write(
    'package-lock.json',
    '{ "lockfileVersion": 3, "packages": { "": {}, "node_modules/a": { "version": "1.0.0" }, "node_modules/b": { "version": "1.0.0", "optional": true } } }',
  );
  write('node_modules/.package-lock.json', '{ "packages": { "node_modules/a": { "version": "1.0.0" } } }');
  write('node_modules/a/package.json', '{}');
  expect(start('0')).toMatchObject({ status: 1, stderr: expect.stringContaining('hone: compiling') });
  (await lib()).install();
  expect(existsSync(join(root, 'node_modules/a/package.json'))).toBe(true);
});

test('an old Node is refused with a clear message', async () => {
  const { requireNode } = await lib();
  expect(() => requireNode('18.19.1')).toThrow('Hone needs Node 20 or later, and this is Node 18.19.1');
  expect(() => requireNode('20.0.0')).not.toThrow();
});

test('what was compiled from deleted sources is removed, everything else stays', async () => {
  for (const name of ['gone.js', 'gone.js.map', 'gone.d.ts', 'gone.test.js', 'kernel.wasm'])
    write(`dist/src/deep/${name}`, '');
  write('dist/src/cli/main.js.map', '');
  (await lib()).removeStale();
  const left = [
    'deep/gone.js',
    'deep/gone.js.map',
    'deep/gone.d.ts',
    'deep/gone.test.js',
    'deep/kernel.wasm',
    'cli/main.js',
    'cli/main.js.map',
  ];
  expect(left.filter((name) => existsSync(join(root, 'dist/src', name)))).toEqual([
    'deep/kernel.wasm',
    'cli/main.js',
    'cli/main.js.map',
  ]);
});

test('a test file that cannot be loaded counts as failed', async () => {
  const { countTests } = await lib();
  const report = {
    numPassedTests: 5,
    numFailedTests: 1,
    numPendingTests: 2,
    numTodoTests: 1,
    testResults: [
      { status: 'failed', assertionResults: [] },
      { status: 'failed', assertionResults: [{}] },
      { status: 'passed', assertionResults: [{}] },
    ],
  };
  expect(countTests(report)).toEqual({ passed: 5, failed: 2, skipped: 3 });
});
