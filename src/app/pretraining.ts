import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { HoneError } from '../core/error.js';
import { verdictOf } from '../core/evidence.js';
import { appendDurably, syncDirectory, withPath, writeAtomic } from '../core/io.js';
import type { Policy, TrainSequence } from '../core/policy.js';
import type { Group } from '../core/trajectory.js';
import { bootstrapMean, evaluate, passAtK } from '../eval/index.js';
import { createPolicy, loadPolicy, trainBpe } from '../policy/index.js';
import { singleTurn } from '../rollout/index.js';
import { type PretrainExample, pretrainExampleAt, synthTasks } from '../tasks/index.js';
import { createVerifier } from '../verify/index.js';
import { modelCard } from './model-card.js';
import { VERSION } from './package.js';

/** Marks the end of a completion in the base policy's vocabulary. */
export const END_TOKEN = '<|end|>';

const pretrainSchema = z.strictObject({
  seed: z.int().min(0),
  languages: z.array(z.string()).min(1),
  steps: z.int().min(1),
  /** Sequences per optimiser step. */
  batchSize: z.int().min(1),
  learningRate: z.number().positive(),
  warmupSteps: z.int().min(0),
  weightDecay: z.number().min(0),
  /** Share of the corpus whose program contains one realistic mistake. */
  errorRate: z.number().min(0).max(1),
  difficulty: z.tuple([z.int().min(1).max(5), z.int().min(1).max(5)]),
  vocabSize: z.int().min(300),
  /** Examples that the tokenizer is learnt from. */
  tokenizerExamples: z.int().min(1),
  hiddenSize: z.int().min(8),
  layers: z.int().min(1),
  heads: z.int().min(1),
  intermediateSize: z.int().min(8),
  contextLength: z.int().min(32),
  checkpointEvery: z.int().min(1),
  evaluateEvery: z.int().min(1),
  threads: z.int().min(1),
  workers: z.int().min(1),
});
export type PretrainConfig = z.infer<typeof pretrainSchema>;

/** The command that made the shipped base policy is `hone pretrain` with exactly these. */
export const PRETRAIN_DEFAULTS: Omit<PretrainConfig, 'threads' | 'workers'> = {
  seed: 1,
  languages: ['javascript', 'python'],
  steps: 3000,
  batchSize: 48,
  learningRate: 3e-3,
  warmupSteps: 100,
  weightDecay: 0.05,
  errorRate: 0.4,
  difficulty: [1, 5],
  vocabSize: 1024,
  tokenizerExamples: 6000,
  hiddenSize: 128,
  layers: 6,
  heads: 2,
  intermediateSize: 352,
  contextLength: 512,
  checkpointEvery: 250,
  evaluateEvery: 500,
};

export interface LossPoint {
  readonly step: number;
  /** Mean negative log-probability per completion token since the point before, nats. */
  readonly loss: number;
  readonly learningRate: number;
}

export type PretrainEvent =
  | { readonly type: 'start'; readonly directory: string; readonly parameters: number; readonly resumedFrom?: number }
  | {
      readonly type: 'step';
      readonly step: number;
      readonly steps: number;
      readonly loss: number;
      readonly tokensPerSecond: number;
    }
  | { readonly type: 'evaluation'; readonly step: number; readonly passAt1: number; readonly passAt8: number }
  | { readonly type: 'measure'; readonly done: number; readonly total: number }
  | { readonly type: 'done'; readonly directory: string; readonly seconds: number };

/** Pass rates of one difficulty (0 = all). */
export interface PassRow {
  readonly language: string;
  readonly difficulty: number;
  readonly tasks: number;
  readonly passAt: { readonly [k: string]: number };
}

/** Linear warm-up, then a cosine to a tenth of the peak. */
export function learningRateAt(
  step: number,
  config: Pick<PretrainConfig, 'steps' | 'learningRate' | 'warmupSteps'>,
): number {
  if (step <= config.warmupSteps) return (config.learningRate * step) / config.warmupSteps;
  const progress = (step - config.warmupSteps) / Math.max(1, config.steps - config.warmupSteps);
  return config.learningRate * (0.1 + 0.45 * (1 + Math.cos(Math.PI * progress)));
}

/** Examples number `start` … `start + count − 1` of the corpus. */
function examples(
  { seed, languages, errorRate, difficulty }: PretrainConfig,
  start: number,
  count: number,
): PretrainExample[] {
  return Array.from({ length: count }, (_, i) =>
    pretrainExampleAt({ seed, languages, errorRate, difficulty }, start + i),
  );
}

function toSequences(batch: readonly PretrainExample[], policy: Policy): TrainSequence[] {
  const encoded = batch.map(({ prompt, completion }) => ({
    promptIds: policy.tokenizer.encode(prompt),
    completionIds: [...policy.tokenizer.encode(completion), policy.tokenizer.eosId],
  }));
  const tokens = encoded.reduce((n, s) => n + s.completionIds.length, 0);
  return encoded.map((s) => ({ ...s, tokenGradients: new Float32Array(s.completionIds.length).fill(-1 / tokens) }));
}

async function freshPolicy(config: PretrainConfig): Promise<Policy> {
  const tokenizerJson = trainBpe(
    examples(config, 0, config.tokenizerExamples).map(({ prompt, completion }) => prompt + completion),
    config.vocabSize,
    [END_TOKEN],
  );
  return createPolicy({
    config: {
      hidden_size: config.hiddenSize,
      num_hidden_layers: config.layers,
      num_attention_heads: config.heads,
      num_key_value_heads: config.heads,
      intermediate_size: config.intermediateSize,
      vocab_size: config.vocabSize,
      max_position_embeddings: config.contextLength,
      rms_norm_eps: 1e-5,
      rope_theta: 10_000,
      tie_word_embeddings: true,
      // The tokenizer gives special tokens the first ids.
      eos_token_id: 0,
    },
    tokenizerJson,
    seed: config.seed,
    threads: config.threads,
  });
}

/** The newest complete checkpoint under `directory`, if there is one. */
function resumePoint(directory: string): { step: number; path: string } | undefined {
  const path = join(directory, 'checkpoint');
  if (!existsSync(join(path, 'state.json'))) return undefined;
  return { step: (JSON.parse(readFileSync(join(path, 'state.json'), 'utf8')) as { step: number }).step, path };
}

async function saveCheckpoint(directory: string, step: number, policy: Policy): Promise<void> {
  const final = join(directory, 'checkpoint');
  const temporary = `${final}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  withPath(temporary, () => mkdirSync(temporary, { recursive: true }));
  await policy.save(temporary, { optimiser: true, dtype: 'float32' });
  writeAtomic(join(temporary, 'state.json'), JSON.stringify({ step }));
  withPath(final, () => {
    rmSync(final, { recursive: true, force: true });
    renameSync(temporary, final);
    syncDirectory(directory);
  });
}

/** Pass rates on held-out tasks by difficulty and over all. */
async function passRows(
  policy: Policy,
  config: PretrainConfig,
  tasks: number,
  samples: number,
  ks: readonly number[],
  split: 'validation' | 'heldout',
  onProgress: (done: number, total: number) => void,
): Promise<PassRow[]> {
  const verifier = await createVerifier({ workers: config.workers });
  try {
    const rollout = singleTurn(policy, verifier, { seed: config.seed, stream: `pretrain-${split}`, maxNewTokens: 96 });
    const languages = config.languages.filter((language) => verifier.languages.includes(language));
    const rows: PassRow[] = [];
    for (const language of languages) {
      const set = synthTasks({ seed: 0, split, language, difficulty: config.difficulty, count: tasks });
      const { groups } = await evaluate(rollout, set, {
        split,
        step: 0,
        samples,
        ks,
        temperature: 1,
        seed: config.seed,
        batch: Math.max(1, Math.floor(256 / samples)),
        onProgress,
      });
      const levels = [0, ...new Set(set.map((task) => task.difficulty ?? 0))].sort((a, b) => a - b);
      rows.push(...levels.map((difficulty) => passRow(language, difficulty, groups, ks)));
    }
    return rows;
  } finally {
    await verifier.close();
  }
}

function passRow(language: string, difficulty: number, groups: readonly Group[], ks: readonly number[]): PassRow {
  const chosen = groups.filter(({ task }) => difficulty === 0 || task.difficulty === difficulty);
  const passAt = ks.map((k) => {
    const values = chosen.map(({ trajectories }) => {
      const passed = trajectories.filter((t) => verdictOf(t.evidence) === 'accepted').length;
      return passAtK(trajectories.length, passed, k);
    });
    return [String(k), bootstrapMean(values, 0, 1).value] as const;
  });
  return { language, difficulty, tasks: chosen.length, passAt: Object.fromEntries(passAt) };
}

/**
 * Trains a base policy from nothing on generated (prompt, program) pairs and writes it, with its card, to `directory`.
 * Continues from `directory/checkpoint` if an earlier run of the same configuration was cut short.
 * Errors: `HoneError` `pretrain_mismatch` when that checkpoint belongs to another configuration, and whatever the disk reports.
 */
export async function pretrain(
  config: PretrainConfig,
  directory: string,
  emit: (event: PretrainEvent) => void,
): Promise<void> {
  const out = resolve(directory);
  withPath(out, () => mkdirSync(out, { recursive: true }));
  const configFile = join(out, 'pretrain.json');
  const { threads: _threads, workers: _workers, ...identity } = config;
  const wanted = `${JSON.stringify({ hone: VERSION, ...identity }, null, 2)}\n`;
  const from = resumePoint(out);
  if (from && existsSync(configFile) && readFileSync(configFile, 'utf8') !== wanted)
    throw new HoneError(
      'pretrain_mismatch',
      `${out} holds an unfinished run with other settings`,
      'Remove it or choose another --out.',
    );
  writeAtomic(configFile, wanted);
  const curveFile = join(out, 'loss.jsonl');
  const seen = from ? readCurve(curveFile).filter((point) => point.step <= from.step) : [];
  writeAtomic(curveFile, seen.map((point) => `${JSON.stringify(point)}\n`).join(''));

  const policy = from ? await loadPolicy(from.path, { threads: config.threads }) : await freshPolicy(config);
  try {
    emit({
      type: 'start',
      directory: out,
      parameters: policy.capabilities.parameters,
      ...(from && { resumedFrom: from.step }),
    });
    const began = performance.now();
    await trainOn(policy, config, out, curveFile, from?.step ?? 0, emit);
    const rows = await passRows(policy, config, 200, 64, [1, 8, 64], 'heldout', (done, total) =>
      emit({ type: 'measure', done, total }),
    );
    await policy.save(out, { dtype: 'float16' });
    writeAtomic(join(out, 'README.md'), modelCard(config, policy.capabilities.parameters, readCurve(curveFile), rows));
    rmSync(join(out, 'checkpoint'), { recursive: true, force: true });
    emit({ type: 'done', directory: out, seconds: (performance.now() - began) / 1000 });
  } finally {
    await policy.close();
  }
}

function readCurve(file: string): LossPoint[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LossPoint);
}

async function trainOn(
  policy: Policy,
  config: PretrainConfig,
  out: string,
  curveFile: string,
  from: number,
  emit: (event: PretrainEvent) => void,
): Promise<void> {
  const batchOf = (step: number): TrainSequence[] =>
    toSequences(examples(config, (step - 1) * config.batchSize, config.batchSize), policy);
  let next = batchOf(from + 1);
  let lossSum = 0;
  let points = 0;
  let tokens = 0;
  let since = performance.now();
  for (let step = from + 1; step <= config.steps; step++) {
    const batch = next;
    const running = policy.step(batch, {
      learningRate: learningRateAt(step, config),
      beta1: 0.9,
      beta2: 0.98,
      epsilon: 1e-8,
      weightDecay: config.weightDecay,
      maxGradNorm: 1,
    });
    // The next batch is made while the engine computes in its worker.
    if (step < config.steps) next = batchOf(step + 1);
    const report = await running;
    lossSum += report.loss;
    points++;
    tokens += batch.reduce((n, s) => n + s.promptIds.length + s.completionIds.length, 0);
    if (step % 25 === 0 || step === config.steps) {
      const seconds = (performance.now() - since) / 1000;
      const loss = lossSum / points;
      appendDurably(curveFile, `${JSON.stringify({ step, loss, learningRate: learningRateAt(step, config) })}\n`);
      emit({ type: 'step', step, steps: config.steps, loss, tokensPerSecond: tokens / seconds });
      lossSum = points = tokens = 0;
      since = performance.now();
    }
    if (step % config.evaluateEvery === 0 && step < config.steps) {
      const [all] = await passRows(policy, config, 64, 8, [1, 8], 'validation', () => {});
      if (all) emit({ type: 'evaluation', step, passAt1: all.passAt['1'] ?? 0, passAt8: all.passAt['8'] ?? 0 });
      since = performance.now();
    }
    if (step % config.checkpointEvery === 0 && step < config.steps) await saveCheckpoint(out, step, policy);
  }
}
