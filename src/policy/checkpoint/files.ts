import { open, readFile } from 'node:fs/promises';
import { HoneError } from '../../core/error.js';

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENAMETOOLONG']);

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? '';

/** The {@link HoneError} that a failed write of `path` means to a person, or the error itself. */
export function writeError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (NO_SPACE.has(code)) {
    return new HoneError('disk_full', `${path}: no space left to write it`, 'Free space or save elsewhere.');
  }
  if (NOT_WRITABLE.has(code)) {
    return new HoneError(
      'unwritable',
      `${path}: cannot be written (${code})`,
      'Choose a folder that you may write to.',
    );
  }
  return error;
}

/** Writes and flushes a file, so that a rename afterwards never reveals a partial one. */
export async function writeDurably(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
  try {
    const file = await open(path, 'w');
    try {
      for (const chunk of chunks) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw writeError(error, path);
  }
}

/** Flushes the names in a directory. Windows cannot open directories; there the rename itself must do. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Errors: `checkpoint_missing` or `checkpoint_unreadable`, naming the file. */
export function readError(error: unknown, path: string): unknown {
  if (error instanceof HoneError) return error;
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new HoneError(
      'checkpoint_missing',
      `${path}: not found`,
      'Give a folder with config.json, model.safetensors and tokenizer.json.',
    );
  }
  if (code !== '') return new HoneError('checkpoint_unreadable', `${path}: cannot be read (${code})`);
  return error;
}

/** Parses a JSON file. Errors: as {@link readError}, or `bad_json`. */
export async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw readError(error, path);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HoneError(
      'bad_json',
      `${path}: not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
      'The file may be truncated; fetch or save it again.',
    );
  }
}
