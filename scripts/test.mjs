// `npm test [-- VITEST ARGUMENTS]`: installs what is missing, compiles, lints, tests; ends with the counts.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, countTests, Failure, guard, install, node, requireNode } from './lib.mjs';

const failures = [];

/** Runs one phase, tells how it went and how long it took; `false` where it failed. */
function phase(name, run) {
  console.log(`== ${name}`);
  const start = performance.now();
  let problem = '';
  try {
    run();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    problem = error.message;
    failures.push(name);
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`== ${name}: ${problem === '' ? 'ok' : `FAILED, ${problem}`} (${seconds} s)\n`);
  return problem === '';
}

/** Runs a package's command with its output visible. */
function tool(script, args) {
  const { status } = node([join('node_modules', script), ...args], 1);
  if (status !== 0) throw new Failure(`exit code ${status}`);
}

await guard(() => {
  requireNode();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  if (phase('install', install)) {
    const built = phase('build', build);
    phase('lint', () => tool('@biomejs/biome/bin/biome', ['check']));
    if (built)
      phase('test', () => {
        const folder = mkdtempSync(join(tmpdir(), 'hone-test-'));
        const file = join(folder, 'report.json');
        try {
          const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
          tool('vitest/vitest.mjs', ['run', ...reporters, ...process.argv.slice(2)]);
        } finally {
          if (existsSync(file)) Object.assign(counts, countTests(JSON.parse(readFileSync(file, 'utf8'))));
          rmSync(folder, { recursive: true, force: true });
        }
        if (counts.passed === 0) throw new Failure('no test ran');
      });
  }
  if (failures.length > 0) console.log(`FAILED: ${failures.join(', ')}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  if (failures.length > 0) process.exitCode = 1;
});
