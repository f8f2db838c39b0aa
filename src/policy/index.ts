/** The embedded engine: loads, makes, samples and trains small Llama-architecture models in this process. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Policy } from '../core/policy.js';
import { type CheckpointText, readCheckpointText } from './checkpoint/checkpoint.js';
import { EmbeddedPolicy } from './embedded.js';
import { type DecoderConfigInput, parseConfig } from './model/config.js';
import { EngineClient } from './runtime/client.js';
import type { WeightSource } from './runtime/protocol.js';
import { buildTokenizer, defaultTokenizerConfig } from './tokenizer/tokenizer.js';

export type { DecoderConfig, DecoderConfigInput } from './model/config.js';
export { trainBpe } from './tokenizer/train-bpe.js';

export interface EngineOptions {
  /** Threads of the engine; default: what the machine offers. Results are reproducible bit for bit per number. */
  readonly threads?: number;
  /** Most sequences decoded at once; default 256. */
  readonly maxRows?: number;
  /** Most padded tokens of one training, scoring or prefill run; default 2048. */
  readonly maxTokens?: number;
}

export interface LoadOptions extends EngineOptions {
  /** Optimiser steps behind the weights; default: as saved, or 0. */
  readonly version?: number;
}

/**
 * Loads a checkpoint folder: `config.json`, `model.safetensors` (or shards with their index), `tokenizer.json` and,
 * where present, `tokenizer_config.json` and `optimizer.safetensors`.
 * Errors: `checkpoint_missing`, `checkpoint_truncated`, `checkpoint_corrupt`, `checkpoint_mixed`, `bad_config`,
 * `bad_json`, `tensor_missing`, `tensor_unexpected`, `tensor_shape`, `bad_tokenizer`, `tokenizer_mismatch`.
 */
export async function loadPolicy(directory: string, options: LoadOptions = {}): Promise<Policy> {
  const text = await readCheckpointText(directory);
  return open(text, { kind: 'directory', directory }, options, join(directory, 'tokenizer.json'));
}

export interface CreateOptions extends EngineOptions {
  /** The fields of a Hugging Face Llama `config.json`. */
  readonly config: DecoderConfigInput;
  /** A Hugging Face `tokenizer.json`, for example from {@link trainBpe}. */
  readonly tokenizerJson: object;
  /** The initial weights are a function of it. */
  readonly seed: number;
}

/** A policy with fresh weights. Errors: `bad_config`, `bad_tokenizer`, `tokenizer_mismatch`. */
export async function createPolicy({ config, tokenizerJson, seed, ...options }: CreateOptions): Promise<Policy> {
  const text = { config: parseConfig(config), tokenizerJson, tokenizerConfig: {} };
  return open(text, { kind: 'fresh', seed }, options);
}

async function open(
  given: CheckpointText,
  source: WeightSource,
  { threads = availableParallelism(), maxRows = 256, maxTokens = 2048, version }: LoadOptions,
  tokenizerFile?: string,
): Promise<Policy> {
  const { config, tokenizerJson } = given;
  const tokenizer = buildTokenizer(tokenizerJson, given.tokenizerConfig, config, tokenizerFile);
  const text = {
    config: { ...config, eos_token_id: tokenizer.eosId },
    tokenizerJson,
    tokenizerConfig: { ...defaultTokenizerConfig(tokenizer, tokenizerJson, config), ...given.tokenizerConfig },
  };
  const client = new EngineClient();
  try {
    const limits = { threads, maxRows, maxTokens };
    const opened = await client.call('open', [config, tokenizer.eosId, source, limits]);
    return new EmbeddedPolicy(client, text, tokenizer, opened.parameters, version ?? opened.version);
  } catch (error) {
    await client.close();
    throw error;
  }
}
