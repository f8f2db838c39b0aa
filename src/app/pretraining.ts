import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HoneError } from '../core/error.js';
import { appendDurably, recoverDirectory, replaceDirectory, withPath, writeAtomic } from '../core/io.js';
import { whileClaimed } from '../core/lock.js';
import type { Policy, TrainSequence } from '../core/policy.js';
import { readRecords, recordLines } from '../core/records.js';
import { evaluate } from '../eval/index.js';
import { createPolicy, loadPolicy, trainBpe } from '../policy/index.js';
import { singleTurn } from '../rollout/index.js';
import { type PretrainExample, pretrainExampleAt, synthTasks } from '../tasks/index.js';
import { createVerifier } from '../verify/index.js';
import { modelCard } from './model-card.js';
import { VERSION } from './package.js';
import {
  checkPretrainConfig,
  END_TOKEN,
  type LossPoint,
  learningRateAt,
  type PassRow,
  type PretrainConfig,
  type PretrainEvent,
  weightsAt,
} from './pretrain-config.js';

/** Examples number `start` … `start + count − 1` of the corpus, with the mixture of a step. */
function examples(config: PretrainConfig, step: number, start: number, count: number): PretrainExample[] {
  const { seed, languages, errorRate } = config;
  const options = { seed, languages, errorRate, difficultyWeights: weightsAt(step, config) };
  return Array.from({ length: count }, (_, i) => pretrainExampleAt(options, start + i));
}

function toSequences(batch: readonly PretrainExample[], policy: Policy): TrainSequence[] {
  const encoded = batch.map(({ prompt, completion }) => ({
    promptIds: policy.tokenizer.encode(prompt, { addSpecialTokens: true }),
    completionIds: [...policy.tokenizer.encode(completion), policy.tokenizer.eosId],
  }));
  const tokens = encoded.reduce((n, s) => n + s.completionIds.length, 0);
  return encoded.map((s) => ({ ...s, tokenGradients: new Float32Array(s.completionIds.length).fill(-1 / tokens) }));
}

async function freshPolicy(config: PretrainConfig): Promise<Policy> {
  const tokenizerJson = trainBpe(
    examples(config, config.steps, 0, config.tokenizerExamples).map(({ prompt, completion }) => prompt + completion),
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

/** What to do about an unfinished run that can't be read. */
const DAMAGED = 'Remove the unfinished run (the .partial folder) and start again.';

/** How far a run is: its step, and the losses since the last point of the curve. */
interface Progress {
  readonly step: number;
  readonly losses: readonly number[];
}

/** The checkpoint of an unfinished run in its working folder, if there is one. */
function resumePoint(directory: string): { progress: Progress; path: string } | undefined {
  const path = join(directory, 'checkpoint');
  recoverDirectory(path);
  const file = join(path, 'state.json');
  if (!existsSync(file)) return undefined;
  try {
    return { progress: JSON.parse(readFileSync(file, 'utf8')) as Progress, path };
  } catch {
    throw new HoneError('run_damaged', `${file} is damaged: not valid JSON`, DAMAGED);
  }
}

async function saveCheckpoint(directory: string, progress: Progress, policy: Policy): Promise<void> {
  await replaceDirectory(join(directory, 'checkpoint'), async (fresh) => {
    await policy.save(fresh, { optimiser: true, dtype: 'float32' });
    writeAtomic(join(fresh, 'state.json'), JSON.stringify(progress));
  });
}

interface Measurement {
  readonly split: 'validation' | 'heldout';
  /** Ranges of difficulties, a row each. */
  readonly ranges: readonly (readonly [number, number])[];
  /** Tasks a row. */
  readonly tasks: number;
  readonly samples: number;
  readonly ks: readonly number[];
}

/** What the card reports: the main job's tasks, then each difficulty. */
const CARD: Omit<Measurement, 'tasks' | 'samples'> = {
  split: 'heldout',
  ranges: [
    [2, 3],
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 5],
  ],
  ks: [1, 8, 64],
};

/** What is looked at on the way; another split than the card's. */
const CHECK: Measurement = { split: 'validation', ranges: [[2, 3]], tasks: 64, samples: 8, ks: [1, 8] };

/** Pass rates in every language that can be judged here. */
async function measure(
  policy: Policy,
  config: PretrainConfig,
  { split, ranges, tasks, samples, ks }: Measurement,
  onProgress: (done: number, total: number) => void,
): Promise<PassRow[]> {
  const verifier = await createVerifier({ workers: config.workers });
  try {
    const rollout = singleTurn(policy, verifier, { seed: config.seed, stream: split, maxNewTokens: 96 });
    const languages = config.languages.filter((language) => verifier.languages.includes(language));
    const rows: PassRow[] = [];
    for (const language of languages)
      for (const difficulty of ranges) {
        const { metrics } = await evaluate(
          rollout,
          synthTasks({ seed: 0, split, language, difficulty, count: tasks }),
          {
            split,
            step: 0,
            samples,
            ks,
            temperature: 1,
            seed: config.seed,
            batch: Math.max(1, Math.floor(256 / samples)),
            onProgress: (done) => onProgress(rows.length * tasks + done, languages.length * ranges.length * tasks),
          },
        );
        const passAt = Object.fromEntries(Object.entries(metrics.passAt).map(([k, { value }]) => [k, value]));
        rows.push({ language, difficulty, tasks: metrics.tasks, passAt });
      }
    return rows;
  } finally {
    await verifier.close();
  }
}

/**
 * Trains a base policy from nothing on generated (prompt, program) pairs and writes it, with its card, to `directory`.
 * Works in `directory.partial`, from which an interrupted run of the same configuration continues; what lies in
 * `directory` is replaced only by the finished model.
 * Errors: `bad_setting`, `pretrain_mismatch` when the unfinished run has another configuration, and whatever the disk reports.
 */
export async function pretrain(
  settings: PretrainConfig,
  directory: string,
  emit: (event: PretrainEvent) => void,
): Promise<void> {
  const config = checkPretrainConfig(settings);
  const out = resolve(directory);
  if (existsSync(out) && !existsSync(join(out, 'config.json')) && withPath(out, () => readdirSync(out)).length > 0)
    throw new HoneError('not_empty', `${out} is not empty and holds no model`, 'Choose another --out.');
  const work = `${out}.partial`;
  withPath(work, () => mkdirSync(work, { recursive: true }));
  await whileClaimed(work, () => pretrainIn(work, out, config, emit));
}

async function pretrainIn(
  work: string,
  out: string,
  config: PretrainConfig,
  emit: (event: PretrainEvent) => void,
): Promise<void> {
  const configFile = join(work, 'pretrain.json');
  const { threads, workers: _workers, ...identity } = config;
  const wanted = `${JSON.stringify({ hone: VERSION, ...identity, threads }, null, 2)}\n`;
  const from = resumePoint(work);
  if (from && existsSync(configFile) && readFileSync(configFile, 'utf8') !== wanted)
    throw new HoneError(
      'pretrain_mismatch',
      `${work} holds an unfinished run with other settings`,
      'Remove it, or choose another --out.',
    );
  writeAtomic(configFile, wanted);
  const curveFile = join(work, 'loss.jsonl');
  const seen = from ? readCurve(curveFile).filter((point) => point.step <= from.progress.step) : [];
  writeAtomic(curveFile, recordLines(seen));

  const policy = from ? await loadPolicy(from.path, { threads: config.threads }) : await freshPolicy(config);
  try {
    emit({
      type: 'start',
      directory: out,
      parameters: policy.capabilities.parameters,
      ...(from && { resumedFrom: from.progress.step }),
    });
    const began = performance.now();
    await trainOn(policy, config, work, curveFile, from?.progress ?? { step: 0, losses: [] }, emit);
    await saveCheckpoint(work, { step: config.steps, losses: [] }, policy);
    const card = { ...CARD, tasks: config.cardTasks, samples: config.cardSamples };
    const rows = await measure(policy, config, card, (done, total) => emit({ type: 'measure', done, total }));
    await replaceDirectory(out, async (fresh) => {
      await policy.save(fresh, { dtype: 'float16' });
      for (const name of ['pretrain.json', 'loss.jsonl'])
        writeAtomic(join(fresh, name), readFileSync(join(work, name)));
      writeAtomic(
        join(fresh, 'README.md'),
        modelCard(config, policy.capabilities.parameters, readCurve(curveFile), rows),
      );
    });
    rmSync(work, { recursive: true, force: true });
    emit({ type: 'done', directory: out, seconds: (performance.now() - began) / 1000 });
  } finally {
    await policy.close();
  }
}

function readCurve(file: string): LossPoint[] {
  return readRecords<LossPoint>(file, DAMAGED);
}

async function trainOn(
  policy: Policy,
  config: PretrainConfig,
  out: string,
  curveFile: string,
  progress: Progress,
  emit: (event: PretrainEvent) => void,
): Promise<void> {
  const batchOf = (step: number): TrainSequence[] =>
    toSequences(examples(config, step, (step - 1) * config.batchSize, config.batchSize), policy);
  let next = batchOf(progress.step + 1);
  let losses = [...progress.losses];
  let tokens = 0;
  let since = performance.now();
  for (let step = progress.step + 1; step <= config.steps; step++) {
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
    losses.push(report.loss);
    tokens += batch.reduce((n, s) => n + s.promptIds.length + s.completionIds.length, 0);
    if (step % 25 === 0 || step === config.steps) {
      const seconds = (performance.now() - since) / 1000;
      const loss = losses.reduce((a, b) => a + b, 0) / losses.length;
      appendDurably(curveFile, recordLines([{ step, loss, learningRate: learningRateAt(step, config) }]));
      emit({ type: 'step', step, steps: config.steps, loss, tokensPerSecond: tokens / seconds });
      losses = [];
      tokens = 0;
      since = performance.now();
    }
    if (step % config.evaluateEvery === 0 && step < config.steps) {
      const [all] = await measure(policy, config, CHECK, () => {});
      if (all) emit({ type: 'evaluation', step, passAt1: all.passAt['1'] ?? 0, passAt8: all.passAt['8'] ?? 0 });
      since = performance.now();
    }
    if (step % config.checkpointEvery === 0 && step < config.steps) await saveCheckpoint(out, { step, losses }, policy);
  }
}
