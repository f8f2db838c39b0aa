import { readFile } from 'node:fs/promises';
import { HoneError } from '../../core/error.js';
import { readError } from '../../core/io.js';

/** As `readError`, but what is not there is a part of a checkpoint: `checkpoint_missing`, naming the file. */
export function checkpointError(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return readError(error, path);
  return new HoneError(
    'checkpoint_missing',
    `${path}: not found`,
    'Give a folder with config.json, model.safetensors and tokenizer.json.',
  );
}

/** Parses a JSON file. Errors: as {@link checkpointError}, or `bad_json`. */
export async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw checkpointError(error, path);
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
