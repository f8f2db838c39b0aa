import { CommanderError } from 'commander';
import { HoneError } from '../core/error.js';

/** Exit codes of every command. */
export const EXIT = {
  ok: 0,
  /** Something went wrong; the message says what. */
  failure: 1,
  /** The command line is wrong; nothing was started. */
  usage: 2,
  /** Interrupted by the user (128 + SIGINT), as shells have it. */
  interrupted: 130,
} as const;

/** An error as it is shown: one message, what to do about it, and the exit code. */
export interface Report {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly exitCode: number;
  /** For bugs: shown with HONE_DEBUG=1 only. */
  readonly stack?: string;
}

/** Faults of the machine by errno: what is wrong and what to do, for operations that did not name it themselves. */
const SYSTEM: { readonly [code: string]: readonly [string, string] } = {
  ENOSPC: ['the disk is full', 'Free some space, then resume: what was recorded so far is complete.'],
  EDQUOT: ['the disk quota is used up', 'Free some space, then resume: what was recorded so far is complete.'],
  EACCES: ['permission denied', 'Choose a folder that you may read and write.'],
  EPERM: ['operation not permitted', 'Choose a folder that you may read and write.'],
  EROFS: ['the file system is read-only', 'Choose a folder on another disk.'],
  ENOENT: ['no such file or folder', 'Check the path.'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Check the path.'],
  EISDIR: ['this is a folder, not a file', 'Check the path.'],
  EMFILE: ['too many open files', 'Raise the limit: ulimit -n 4096.'],
};

/** What an error means to the person who started the command. */
export function describeError(error: unknown): Report {
  if (error instanceof HoneError) {
    const { code, message, hint, exitCode } = error;
    return { code, message, hint, exitCode };
  }
  if (error instanceof CommanderError) {
    // Help and version are no errors: commander has printed them already.
    if (error.exitCode === 0) return { code: error.code, message: '', hint: '', exitCode: EXIT.ok };
    // The help of a command group that was called without a command has been printed in place of a message.
    const message = error.code === 'commander.help' ? '' : error.message.replace(/^error: /, '').replace(/\n/g, ' ');
    return { code: error.code, message, hint: message && 'See --help for what there is.', exitCode: EXIT.usage };
  }
  if (error instanceof Error && error.name === 'AbortError')
    return { code: 'interrupted', message: 'interrupted', hint: '', exitCode: EXIT.interrupted };
  if (error instanceof RangeError && /could not allocate memory|Array buffer allocation failed/i.test(error.message))
    return {
      code: 'out_of_memory',
      message: `not enough memory: ${error.message}`,
      hint: 'Free some memory, raise the limit (ulimit -v), or use fewer --workers.',
      exitCode: EXIT.failure,
    };
  const system = error instanceof Error ? (error as NodeJS.ErrnoException) : undefined;
  const known = system?.code === undefined ? undefined : SYSTEM[system.code];
  if (system?.code && known) {
    const [what, hint] = known;
    return {
      code: system.code,
      message: system.path === undefined ? what : `${what}: ${system.path}`,
      hint,
      exitCode: EXIT.failure,
    };
  }
  return {
    code: 'internal_error',
    message: `internal error: ${error instanceof Error ? error.message : String(error)}`,
    hint: 'This is a bug in Hone. Report it in the issue tracker with the command and what HONE_DEBUG=1 prints.',
    exitCode: EXIT.failure,
    ...(error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {}),
  };
}

/**
 * Shows an error and returns the exit code.
 * Text: `hone: MESSAGE` and a line with the hint. JSON: one object `{type: 'error', code, message, hint, exitCode}`.
 * The stack of a bug is added with HONE_DEBUG=1.
 */
export function reportError(
  error: unknown,
  options: {
    readonly json?: boolean;
    readonly stderr?: NodeJS.WritableStream;
    readonly environment?: NodeJS.ProcessEnv;
  } = {},
): number {
  const { stack, ...report } = describeError(error);
  const stderr = options.stderr ?? process.stderr;
  const debug = (options.environment ?? process.env).HONE_DEBUG === '1' && stack !== undefined;
  if (report.message === '') return report.exitCode;
  if (options.json) {
    stderr.write(`${JSON.stringify({ type: 'error', ...report, ...(debug ? { stack } : {}) })}\n`);
  } else {
    stderr.write(`hone: ${report.message}\n`);
    if (report.hint !== '') stderr.write(`      ${report.hint}\n`);
    if (debug) stderr.write(`${stack}\n`);
  }
  return report.exitCode;
}

/** Ends the process quietly when whoever read a stream has gone, as in `hone … | head`. */
export function exitOnBrokenPipe(stream: NodeJS.WritableStream = process.stdout): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    // Not process.exit: it would tear down threads inside native code, which aborts noisily.
    process.removeAllListeners('SIGTERM');
    process.kill(process.pid, 'SIGTERM');
  });
}
