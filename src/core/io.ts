import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { HoneError } from './error.js';

/** Turns a file-system failure into a message that says what to do; anything else is rethrown as it is. */
export function ioError(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new HoneError(
        'disk_full',
        `no space left while writing ${path}`,
        'Free some space, then continue with --resume.',
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new HoneError(
        'unwritable',
        `not allowed to write ${path}`,
        'Choose another folder or change its permissions.',
      );
    case 'ENOTDIR':
    case 'EEXIST':
      return new HoneError(
        'unwritable',
        `${path}: a part of this path is a file, not a folder`,
        'Choose another folder.',
      );
    case 'ENAMETOOLONG':
      return new HoneError('unwritable', `${path}: this name is too long`, 'Choose a shorter one.');
    case 'EISDIR':
      return new HoneError('unreadable', `${path} is a folder, a file was expected`, 'Give the path of a file.');
    case 'ENOENT':
      return new HoneError('not_found', `${path} does not exist`, 'Check the path.');
    case 'EFBIG':
      return new HoneError(
        'disk_full',
        `${path} grew past the file-size limit`,
        'Raise the limit, then continue with --resume.',
      );
    default:
      return error;
  }
}

/** As `ioError`, for reading. */
export function readError(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'EACCES' || code === 'EPERM'
    ? new HoneError('unreadable', `not allowed to read ${path}`, 'Change its permissions.')
    : ioError(error, path);
}

/** Runs a file operation; its failures come out as `HoneError`s about `path`. */
export function withPath<T>(path: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw ioError(error, path);
  }
}

/** Makes a rename or a new entry of `directory` durable where the platform can. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeAndSync(path: string, chunks: Iterable<string | Uint8Array>): void {
  const fd = openSync(path, 'w');
  try {
    for (const chunk of chunks) writeFileSync(fd, chunk);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes a file and makes its content durable; a crash meanwhile leaves a part of it, so rename it afterwards. */
export function writeDurably(path: string, chunks: Iterable<string | Uint8Array>): void {
  withPath(path, () => writeAndSync(path, chunks));
}

/** Replaces a file so that after a crash either the old or the new content is there, never a mixture. */
export function writeAtomic(path: string, content: string | Uint8Array): void {
  withPath(path, () => {
    const temporary = `${path}.tmp`;
    writeAndSync(temporary, [content]);
    renameSync(temporary, path);
    syncDirectory(dirname(path));
  });
}

/** Appends text or bytes and makes them durable before returning. */
export function appendDurably(path: string, content: string | Uint8Array): void {
  withPath(path, () => {
    const fd = openSync(path, 'a');
    try {
      const bytes = Buffer.from(content);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

/**
 * Fills a folder and puts it at `path`, whole or not at all. What was there before stays until the new one is complete
 * and is back after a crash at any moment, at the latest when `recoverDirectory` is called.
 */
export async function replaceDirectory(path: string, fill: (directory: string) => Promise<void>): Promise<void> {
  const temporary = `${path}.tmp`;
  const old = `${path}.old`;
  rmSync(temporary, { recursive: true, force: true });
  withPath(temporary, () => mkdirSync(temporary, { recursive: true }));
  await fill(temporary);
  withPath(path, () => {
    recoverDirectory(path);
    if (existsSync(path)) renameSync(path, old);
    renameSync(temporary, path);
    syncDirectory(dirname(path));
    rmSync(old, { recursive: true, force: true });
  });
}

/** Finishes or undoes a replacement that a crash cut short. */
export function recoverDirectory(path: string): void {
  const old = `${path}.old`;
  if (!existsSync(old)) return;
  if (existsSync(path)) rmSync(old, { recursive: true, force: true });
  else renameSync(old, path);
}
