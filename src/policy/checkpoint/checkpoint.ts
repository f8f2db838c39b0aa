import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { HoneError } from '../../core/error.js';
import { syncDirectory, withPath, writeDurably } from '../../core/io.js';
import { configJson, type DecoderConfig, parseConfig } from '../model/config.js';
import type { ParameterStore } from '../optim/store.js';
import { readJson } from './read.js';
import { SafetensorsFile, writeSafetensors } from './safetensors.js';
import { readWeights, WEIGHTS_FILE } from './weights.js';

export const OPTIMISER_FILE = 'optimizer.safetensors';

/** The parts of a checkpoint that are JSON. */
export interface CheckpointText {
  readonly config: DecoderConfig;
  readonly tokenizerJson: object;
  readonly tokenizerConfig: object;
}

/** Errors: `checkpoint_missing`, `bad_json`, `bad_config`, each naming the file. */
export async function readCheckpointText(directory: string): Promise<CheckpointText> {
  const configPath = join(directory, 'config.json');
  const config = parseConfig(await readJson(configPath), configPath);
  const tokenizerJson = await readObject(join(directory, 'tokenizer.json'));
  const tokenizerConfigPath = join(directory, 'tokenizer_config.json');
  const tokenizerConfig = existsSync(tokenizerConfigPath) ? await readObject(tokenizerConfigPath) : {};
  return { config, tokenizerJson, tokenizerConfig };
}

async function readObject(path: string): Promise<object> {
  const value = await readJson(path);
  if (typeof value !== 'object' || value === null) throw new HoneError('bad_json', `${path}: must hold an object`);
  return value;
}

/**
 * Fills the store from a folder: the weights and, where `optimizer.safetensors` lies beside them, the moments and the
 * step count. Returns the policy version: the one saved, or 0.
 * Errors: see {@link readWeights}; `checkpoint_mixed` when weights and optimiser state come from different saves.
 */
export async function readCheckpoint(directory: string, store: ParameterStore): Promise<number> {
  const metadata = await readWeights(directory, store.specs, (name) => store.view('p', name));
  const version = wholeNumber(metadata.hone_version) ?? 0;
  const path = join(directory, OPTIMISER_FILE);
  if (!existsSync(path)) return version;
  const file = await SafetensorsFile.open(path);
  try {
    if (file.metadata.hone_weights !== metadata.hone_weights) {
      throw new HoneError(
        'checkpoint_mixed',
        `${path}: belongs to other weights than ${WEIGHTS_FILE} beside it`,
        'The save was interrupted: use an earlier checkpoint, or delete this file to start with a fresh optimiser.',
      );
    }
    const steps = wholeNumber(file.metadata.step);
    if (steps === undefined) throw new HoneError('checkpoint_corrupt', `${path}: its metadata has no step count`);
    for (const { name, shape } of store.specs) {
      for (const part of ['m', 'v'] as const) await file.read(`${part}.${name}`, shape, store.view(part, name));
    }
    if (file.names.length !== 2 * store.specs.length) {
      throw new HoneError('tensor_unexpected', `${path}: holds tensors that have no place in the optimiser state`);
    }
    store.steps = steps;
  } finally {
    await file.close();
  }
  return version;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export interface SaveOptions {
  readonly optimiser: boolean;
  readonly dtype: 'float32' | 'float16';
  readonly version: number;
}

/**
 * Writes a checkpoint folder. Everything is first written and flushed under a temporary name beside it, so that a full
 * disk or a crash leaves what was there before; a new folder then appears as a whole, an existing one file by file.
 * Errors: `disk_full`, `unwritable`, `float16_overflow`, `diverged`.
 */
export function writeCheckpoint(
  directory: string,
  text: CheckpointText,
  store: ParameterStore,
  options: SaveOptions,
): void {
  store.checkUsable();
  const target = resolve(directory);
  const staging = `${target}.partial-${process.pid}`;
  withPath(target, () => {
    mkdirSync(dirname(target), { recursive: true });
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(staging);
    try {
      writeFiles(staging, text, store, options);
      syncDirectory(staging);
      if (existsSync(target)) replaceFiles(staging, target, options.optimiser);
      else renameSync(staging, target);
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
    syncDirectory(dirname(target));
  });
}

function writeFiles(
  directory: string,
  text: CheckpointText,
  store: ParameterStore,
  { optimiser, dtype, version }: SaveOptions,
): void {
  const json = (name: string, value: object): void =>
    writeDurably(join(directory, name), [`${JSON.stringify(value, null, 2)}\n`]);
  json('config.json', { ...configJson(text.config), torch_dtype: dtype });
  json('tokenizer.json', text.tokenizerJson);
  json('tokenizer_config.json', text.tokenizerConfig);

  // Tells whether weights and optimiser state come from the same save, whatever happened between their renames.
  const hash = createHash('sha256');
  for (const { name } of store.specs) {
    const { buffer, byteOffset, byteLength } = store.view('p', name);
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  const pair = { hone_weights: hash.digest('hex').slice(0, 16), hone_version: String(version) };
  writeSafetensors(
    join(directory, WEIGHTS_FILE),
    store.specs.map(({ name, shape }) => ({ name, shape, data: store.view('p', name) })),
    dtype === 'float16' ? 'F16' : 'F32',
    pair,
  );
  if (!optimiser) return;
  writeSafetensors(
    join(directory, OPTIMISER_FILE),
    (['m', 'v'] as const).flatMap((part) =>
      store.specs.map(({ name, shape }) => ({ name: `${part}.${name}`, shape, data: store.view(part, name) })),
    ),
    'F32',
    { ...pair, step: String(store.steps) },
  );
}

/** Other files of the folder stay; only a stale optimiser state goes. */
function replaceFiles(staging: string, target: string, optimiser: boolean): void {
  if (!optimiser) rmSync(join(target, OPTIMISER_FILE), { force: true });
  for (const name of readdirSync(staging)) renameSync(join(staging, name), join(target, name));
  syncDirectory(target);
}
