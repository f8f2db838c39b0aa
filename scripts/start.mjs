// `npm start [-- OPTIONS]`: installs and compiles what is missing, then runs the main job, `hone train OPTIONS`.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { buildIfStale, guard, install, requireNode, root } from './lib.mjs';

await guard(() => {
  requireNode();
  install();
  buildIfStale();
  // Paths on the command line are relative to where npm was called; npm itself changes to the root.
  const cwd = (process.env.npm_lifecycle_event === 'start' && process.env.INIT_CWD) || process.cwd();
  const child = spawn(process.execPath, [join(root, 'dist/src/cli/main.js'), 'train', ...process.argv.slice(2)], {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, HONE_COMMAND: cwd === root ? 'npx hone' : `node ${join(root, 'dist/src/cli/main.js')}` },
  });
  // Ctrl-C reaches the child by itself on a terminal; a second one would tell it to stop without saving.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
});
