import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/app/package.js';
import { type SourceFile, violations } from './architecture.js';

function sources(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .map((path) => ({
      path: relative(PACKAGE_ROOT, path).split(sep).join(posix.sep),
      text: readFileSync(path, 'utf8'),
    }));
}

test('dependencies point downward only, and nothing draws from unseeded randomness or the clock', () => {
  const files = sources(join(PACKAGE_ROOT, 'src'));
  expect(files.length).toBeGreaterThan(50);
  expect(violations(files)).toEqual([]);
});

/** What the checker says of one made-up file. */
const check = (path: string, text: string): string[] => violations([{ path, text }]);

test.each([
  ['src/core/x.ts', `import { binary } from '../reward/index.js';`],
  ['src/core/x.ts', `export * from '../policy/index.js';`],
  ['src/reward/x.ts', `import type { Policy } from '../policy/index.js';`],
  ['src/credit/x.ts', `export { binary } from '../reward/index.js';`],
  ['src/loss/deep/x.ts', `const m = await import('../../sandbox/index.js');`],
  ['src/rollout/x.ts', `import { createVerifier } from '../verify/index.js';`],
  ['src/eval/x.ts', `import { loadPolicy } from '../policy/index.js';`],
  ['src/verify/x.ts', `import { loadPolicy } from '../policy/index.js';`],
  ['src/policy/x.ts', `const worker = new Worker(new URL('../sandbox/worker.js', import.meta.url));`],
  ['src/app/x.ts', `import { EXIT } from '../cli/errors.js';`],
  ['src/core/x.test.ts', `import { EXIT } from '../cli/errors.js';`],
  ['src/index.ts', `export * from './cli/options.js';`],
  ['src/cli/x.ts', `import recipe from '../../recipes/a10.js';`],
  ['src/app/x.ts', `import { fixture } from '../../test/helper.js';`],
  ['src/somewhere-new/x.ts', `import { HoneError } from '../core/error.js';`],
  ['src/app/x.ts', `const x = Math.random();`],
  ['src/core/x.ts', `const { random } = Math;`],
  ['src/core/x.ts', `const clock = Date.now;`],
  ['src/core/x.ts', `const today = new Date();`],
  ['src/core/x.ts', `let time = 0; time = Date.now();`],
])('%s must not hold: %s', (path, text) => {
  expect(check(path, text)).toHaveLength(1);
});

test.each([
  ['src/core/x.ts', `import { VERDICTS } from './evidence.js'; import { join } from 'node:path';`],
  ['src/verify/x.ts', `import { run } from '../sandbox/index.js'; import { HoneError } from '../core/error.js';`],
  ['src/app/x.ts', `import { binary } from '../reward/index.js';`],
  ['src/cli/x.ts', `import { startTraining } from '../app/training.js';`],
  ['src/rollout/x.test.ts', `import { createVerifier } from '../verify/index.js';`],
  ['src/core/x.ts', `const text = "import x from '../policy/index.js'; Math.random(); Date.now()"; // Math.random()`],
  ['src/core/x.ts', `const day = new Date(0);`],
  ['src/sandbox/worker.ts', `Date.now = () => 0;`],
  ['src/cli/display/x.ts', `const start = Date.now();`],
])('%s may hold: %s', (path, text) => {
  expect(check(path, text)).toEqual([]);
});

test('a violation names the file, the line and the rule', () => {
  expect(check('src/core/x.ts', `\n\nimport { binary } from '../reward/index.js';`)).toMatchInlineSnapshot(`
    [
      "src/core/x.ts:3: core may not import reward",
    ]
  `);
  expect(check('src/app/x.ts', 'const x = Math.random();')).toMatchInlineSnapshot(`
    [
      "src/app/x.ts:1: Math.random makes results unrepeatable; use stream() of src/core/seeds.ts",
    ]
  `);
  expect(check('src/core/x.ts', 'const = ;')[0]).toContain('src/core/x.ts');
});
