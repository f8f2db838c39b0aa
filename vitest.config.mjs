import { defineConfig } from 'vitest/config';

// Tests run on the compiled output, because worker threads load real .js files. `--dir` picks another build folder.
export default defineConfig({
  test: {
    dir: 'dist',
    include: ['**/*.test.js'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
