import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { HoneError } from '../../core/error.js';
import { HEAD, type ParameterSpec } from '../model/parameters.js';
import { readJson } from './read.js';
import { SafetensorsFile } from './safetensors.js';

export const WEIGHTS_FILE = 'model.safetensors';
export const INDEX_FILE = 'model.safetensors.index.json';

const indexSchema = z.object({ weight_map: z.record(z.string(), z.string()) });

/**
 * Reads all parameters of a checkpoint folder, from one file or from the shards that its index names. Returns the
 * metadata of the (first) file.
 * Errors: those of {@link SafetensorsFile}, `tensor_unexpected`, `bad_index`.
 */
export async function readWeights(
  directory: string,
  specs: readonly ParameterSpec[],
  target: (name: string) => Float32Array,
): Promise<Readonly<Record<string, string>>> {
  const single = join(directory, WEIGHTS_FILE);
  const index = join(directory, INDEX_FILE);
  const paths = !existsSync(single) && existsSync(index) ? await shardPaths(index) : [single];
  const files: SafetensorsFile[] = [];
  try {
    for (const path of paths) files.push(await SafetensorsFile.open(path));
    const wanted = new Set(specs.map((spec) => spec.name));
    for (const file of files) {
      for (const name of file.names) if (!wanted.has(name) && !isRedundant(name)) refuseExtra(file.path, name);
    }
    for (const { name, shape } of specs) {
      // A tensor that no shard holds is reported by the first.
      const file = files.find((f) => f.names.includes(name)) ?? files[0];
      await file?.read(name, shape, target(name));
    }
    return files[0]?.metadata ?? {};
  } finally {
    for (const file of files) await file.close();
  }
}

/** Copies that some savers write: a tied head, and the rotary frequencies, which follow from the config. */
const isRedundant = (name: string): boolean => name === HEAD || name.endsWith('.rotary_emb.inv_freq');

function refuseExtra(path: string, name: string): never {
  throw new HoneError(
    'tensor_unexpected',
    `${path}: tensor ${name} has no place in the model`,
    'config.json describes another model than this file holds.',
  );
}

async function shardPaths(index: string): Promise<string[]> {
  const parsed = indexSchema.safeParse(await readJson(index));
  if (!parsed.success) throw new HoneError('bad_index', `${index}: weight_map must name a file for each tensor`);
  const names = [...new Set(Object.values(parsed.data.weight_map))].sort();
  for (const name of names) {
    // A shard lies beside its index; anything else could reach out of the folder.
    if (/[\\/]/.test(name)) throw new HoneError('bad_index', `${index}: shard "${name}" must be a plain file name`);
  }
  if (names.length === 0) throw new HoneError('bad_index', `${index}: weight_map is empty`);
  return names.map((name) => join(dirname(index), name));
}
