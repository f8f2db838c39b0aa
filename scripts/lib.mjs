// What `npm start` and `npm test` share. Plain Node without packages: it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = ['src', 'recipes', 'bench', 'test'];
const LOCK_STAMP = 'node_modules/.hone-lock-hash';
const BUILD_STAMP = 'dist/.hone-build-hash';

/** A failure to be shown as it is, without a stack. */
export class Failure extends Error {}

/** Stops with a clear message where this Node is too old to run Hone. */
export function requireNode(version = process.versions.node) {
  if (Number(version.split('.')[0]) < 20)
    throw new Failure(`Hone needs Node 20 or later, and this is Node ${version}. Install one from https://nodejs.org`);
}

/** Installs the packages that package-lock.json names, unless they are there already. */
export function install() {
  const wanted = hash(read('package-lock.json'));
  if (existsSync(at(LOCK_STAMP)) && read(LOCK_STAMP) === wanted) return;
  if (!installedByHand()) {
    say('installing packages (npm ci)');
    // ONNXRUNTIME_NODE_INSTALL=skip: its script would otherwise download CUDA libraries that Hone does not use.
    const { status, error } = npm(['ci', '--include=dev', '--no-audit', '--no-fund'], {
      ONNXRUNTIME_NODE_INSTALL: 'skip',
    });
    if (status !== 0)
      throw new Failure(
        `the packages could not be installed: npm ci ${error ? `failed (${error.message})` : `ended with code ${status}`}.\n` +
          'Its messages are above. Check the connection to the package registry and the free disk space, then try again.',
      );
  }
  writeFileSync(at(LOCK_STAMP), wanted);
}

/** Whether npm itself has already installed every package of the lock file, e.g. by a plain `npm ci`. */
function installedByHand() {
  try {
    const { packages } = JSON.parse(read('package-lock.json'));
    const { packages: present } = JSON.parse(read('node_modules/.package-lock.json'));
    return Object.entries(packages).every(([path, entry]) => {
      if (path === '') return true;
      const found = present[path];
      return found ? found.version === entry.version && existsSync(at(path)) : entry.optional === true;
    });
  } catch {
    return false;
  }
}

/** Compiles the sources to dist/ and forgets what was compiled from sources that are gone. */
export function build() {
  const wanted = sourceHash();
  removeStale();
  rmSync(at(BUILD_STAMP), { force: true });
  const { status } = node(['scripts/build.mjs']);
  if (status !== 0) throw new Failure('the sources do not compile; the messages are above.');
  mkdirSync(at('dist'), { recursive: true });
  writeFileSync(at(BUILD_STAMP), wanted);
}

/** Builds where dist/ was not made from the sources as they are now. */
export function buildIfStale() {
  if (existsSync(at(BUILD_STAMP)) && read(BUILD_STAMP) === sourceHash()) return;
  say('compiling');
  build();
}

/** Removes compiled files whose source is gone, so that no deleted test runs and no deleted module is found. */
export function removeStale(out = at('dist'), sources = root) {
  for (const path of SOURCES.flatMap((folder) => files(join(out, folder)))) {
    const source = /^(.*)\.(?:d\.ts|js\.map|js)$/.exec(relative(out, path))?.[1];
    if (source !== undefined && !existsSync(join(sources, `${source}.ts`))) rmSync(path);
  }
}

/** A hash over everything that dist/ is made from. */
export function sourceHash() {
  const inputs = ['package-lock.json', 'tsconfig.json', 'scripts/build.mjs'].map(at);
  const sources = SOURCES.flatMap((folder) => files(at(folder))).filter((path) => path.endsWith('.ts'));
  return hash([...inputs, ...sources].map((path) => `${relative(root, path)} ${hash(readFileSync(path))}`).join('\n'));
}

/** Counts of a Vitest JSON report; a file that could not be loaded counts as one failed test. */
export function countTests(report) {
  const unloadable = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloadable.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Runs a script with this Node from the root; what it prints goes to `output` (a file descriptor). */
export function node(args, output = 2) {
  return spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', output, 2] });
}

/** Tells the user what goes on; on stderr, so that stdout carries the run alone. */
export function say(message) {
  process.stderr.write(`hone: ${message}\n`);
}

/** Runs `main` and shows a `Failure` as one message with exit code 1. */
export async function guard(main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

function npm(args, environment) {
  const options = { cwd: root, stdio: ['ignore', 2, 2], env: { ...process.env, ...environment } };
  // Under `npm start`, the npm that is running; else the one on the path, which is a shell script on Windows.
  const running = process.env.npm_execpath;
  if (running && /npm-cli\.c?js$/.test(running)) return spawnSync(process.execPath, [running, ...args], options);
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}

/** Every file under a folder, sorted, so that hashes do not depend on the file system. */
function files(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? files(path) : [path];
    });
}

function at(path) {
  return join(root, path);
}

function read(path) {
  return readFileSync(at(path), 'utf8');
}

function hash(content) {
  return createHash('sha256').update(content).digest('hex');
}
