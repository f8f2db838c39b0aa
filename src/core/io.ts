import { closeSync, fsyncSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
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
      return new HoneError(
        'unwritable',
        `${path}: a part of this path is a file, not a folder`,
        'Choose another folder.',
      );
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

/** Replaces a file so that after a crash either the old or the new content is there, never a mixture. */
export function writeAtomic(path: string, content: string | Uint8Array): void {
  withPath(path, () => {
    const temporary = `${path}.tmp`;
    const fd = openSync(temporary, 'w');
    try {
      writeFileSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
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
