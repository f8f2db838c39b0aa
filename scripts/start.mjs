// `npm start [-- OPTIONS]`: installs and compiles what is missing, then runs the main job, `hone train OPTIONS`.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { buildIfStale, guard, install, requireNode, root } from './lib.mjs';

await guard(() => {
  requireNode();
  install();
  buildIfStale();
  // Paths on the command line are relative to where npm was called; npm itself changes to the root.
  const cwd = (process.env.npm_lifecycle_event === 'start' && process.env.INIT_CWD) || process.cwd();
  const main = join(root, 'dist/src/cli/main.js');
  const child = spawn(process.execPath, [main, 'train', ...process.argv.slice(2)], {
    cwd,
    stdio: 'inherit',
    // How the commands that a run suggests are called from a clone, where no `hone` is on the path.
    env: { ...process.env, HONE_COMMAND: `node ${relative(cwd, main)}` },
  });
  // Ctrl-C reaches the child by itself on a terminal.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
});
