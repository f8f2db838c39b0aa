// Compiles the sources to dist/: `node scripts/build.mjs [--out DIR]`.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = process.argv.indexOf('--out');
const out = at > 0 ? process.argv[at + 1] : 'dist';

/** Runs a package's command with this Node and stops on failure. */
function run(script, args) {
  const result = spawnSync(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

const kernels = join(root, out, 'src/policy/optim');
mkdirSync(kernels, { recursive: true });
run('assemblyscript/bin/asc.js', [
  'src/policy/optim/adam.as.ts',
  '-o',
  join(kernels, 'adam.wasm'),
  '-O3',
  '--runtime',
  'stub',
  '--enable',
  'simd',
  '--importMemory',
  '--noAssert',
]);
run('typescript/bin/tsc', ['-p', 'tsconfig.json', '--outDir', out]);
