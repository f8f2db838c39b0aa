#!/usr/bin/env node
import { EXIT, exitOnBrokenPipe, reportError } from './errors.js';
import { interruptMessage } from './interrupt.js';
import { wantsJson } from './options.js';

/**
 * Ends the process as the signal itself would: at once, without tearing down threads that are inside native code.
 * What is on disk is complete up to the last checkpoint; nothing needs finishing.
 */
function endBy(signal: 'SIGINT' | 'SIGTERM'): void {
  process.stderr.write(`\n${interruptMessage()}\n`);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

exitOnBrokenPipe();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, endBy);

try {
  // Loaded here, so that what stops the modules from loading is reported like any other failure.
  const { createProgram } = await import('./program.js');
  await createProgram().parseAsync(process.argv);
  process.exitCode ??= EXIT.ok;
} catch (error) {
  process.exitCode = reportError(error, { json: wantsJson(process.argv) });
}
