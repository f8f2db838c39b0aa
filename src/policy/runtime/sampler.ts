import { HoneError } from '../../core/error.js';
import type { Completion, SampleOptions, SampleRequest } from '../../core/policy.js';
import { type Stream, stream } from '../../core/seeds.js';
import type { DecoderConfig } from '../model/config.js';
import { keyName, MASKED, pastKeyName, pastValueName, valueName } from '../model/graphs.js';
import { checkSequence, timeMajor } from './batch.js';
import { type BufferPool, KeyValueCache } from './cache.js';
import { type Feeds, floatsOf, loadRuntime, type Outputs, type Program } from './program.js';

export interface SamplerContext {
  readonly config: DecoderConfig;
  /** The id that ends a completion. */
  readonly eosId: number;
  readonly prefill: Program;
  readonly decode: Program;
  /** The parameters. */
  readonly weights: Feeds;
  /** Most sequences decoded at once. */
  readonly maxRows: number;
  /** Most padded tokens of one prefill. */
  readonly maxTokens: number;
  readonly pool: BufferPool;
}

/** One completion in the making. */
interface Member {
  readonly request: number;
  readonly index: number;
  readonly prompt: readonly number[];
  readonly random: Stream;
  /** Most new tokens: the caller's limit or what the context leaves. */
  readonly limit: number;
  readonly ids: number[];
  readonly logprobs: number[];
  readonly entropies: number[];
  done: boolean;
}

/**
 * Samples `n` completions of each request. Each completion draws one number per token from its own stream, so it does
 * not depend on what else is sampled, except through float rounding in differently shaped products.
 *
 * Temperature 0 takes the most probable token (the lowest id on a tie) and reports the log-probabilities and entropies
 * of temperature 1.
 */
export async function sample(
  context: SamplerContext,
  requests: readonly SampleRequest[],
  options: Omit<SampleOptions, 'onProgress'>,
  onTokens: (count: number) => void,
): Promise<Completion[][]> {
  const members = requests.flatMap((request, i) => membersOf(context, request, i, options));
  // Long prompts first, so that a batch holds prompts of similar length; equal prompts stay together.
  const order = [...members].sort(
    (a, b) => b.prompt.length - a.prompt.length || a.request - b.request || a.index - b.index,
  );
  const batches = Math.ceil(order.length / context.maxRows);
  const size = Math.ceil(order.length / Math.max(1, batches));
  let sampled = 0;
  for (let i = 0; i < order.length; i += size) {
    const before = sampled;
    await sampleBatch(context, order.slice(i, i + size), options.temperature, (count) => {
      sampled = before + count;
      onTokens(sampled);
    });
  }
  const completions: Completion[][] = requests.map(() => []);
  for (const member of members) {
    const { ids, logprobs, entropies } = member;
    const finish = ids.at(-1) === context.eosId ? 'stop' : 'length';
    completions[member.request]?.push({ ids, logprobs, entropies, finish });
  }
  return completions;
}

function membersOf(
  { config }: SamplerContext,
  request: SampleRequest,
  index: number,
  { seed, maxNewTokens, temperature }: Omit<SampleOptions, 'onProgress'>,
): Member[] {
  checkSequence(config, { promptIds: request.promptIds, completionIds: [] }, index);
  if (!(temperature >= 0)) throw new HoneError('bad_option', `temperature ${temperature}: must be 0 or more`);
  if (!(Number.isInteger(maxNewTokens) && maxNewTokens > 0)) {
    throw new HoneError('bad_option', `maxNewTokens ${maxNewTokens}: must be a positive integer`);
  }
  // The last sampled token is never read, so it needs no position.
  const room = config.max_position_embeddings - request.promptIds.length + 1;
  return Array.from({ length: request.n }, (_, k) => ({
    request: index,
    index: k,
    prompt: request.promptIds,
    random: stream(seed, ...request.stream, k),
    limit: Math.min(maxNewTokens, room),
    ids: [],
    logprobs: [],
    entropies: [],
    done: false,
  }));
}

async function sampleBatch(
  context: SamplerContext,
  batch: readonly Member[],
  temperature: number,
  onTokens: (count: number) => void,
): Promise<void> {
  const { Tensor } = await loadRuntime();
  const { config, weights } = context;
  const layers = Array.from({ length: config.num_hidden_layers }, (_, i) => i);
  const inverse = new Tensor('float32', [temperature > 0 ? 1 / temperature : 1], []);
  const longest = Math.max(...batch.map((m) => m.prompt.length));
  const capacity = longest + Math.max(...batch.map((m) => m.limit));
  const cache = new KeyValueCache(config, batch.length, longest, capacity, context.pool);

  let sampled = 0;
  /** Draws the next token of a member from row `row` of the outputs. */
  const draw = (outputs: Outputs, row: number, member: Member): void => {
    const id = pick(floatsOf(outputs, 'probs'), row, config.vocab_size, temperature, member.random);
    member.ids.push(id);
    member.logprobs.push(Math.log(floatsOf(outputs, 'probs')[row * config.vocab_size + id] ?? 0));
    member.entropies.push(floatsOf(outputs, 'entropy')[row] ?? 0);
    member.done = id === context.eosId || member.ids.length >= member.limit;
    sampled++;
  };

  const rowsOf = groupByPrompt(batch);
  for (const prompts of prefillBatches([...rowsOf.keys()], context.maxTokens)) {
    const outputs = await context.prefill.run({
      ...weights,
      inverse_temperature: inverse,
      ...(await promptFeeds(prompts)),
    });
    prompts.forEach((prompt, b) => {
      for (const row of rowsOf.get(prompt) ?? []) {
        for (const layer of layers) {
          const place = (buffer: number, name: string): void =>
            cache.fill(buffer, row, floatsOf(outputs, name), prompts.length, b, prompt.length);
          place(layer, keyName(layer));
          place(layers.length + layer, valueName(layer));
        }
        const member = batch[row];
        if (member !== undefined) draw(outputs, b, member);
      }
    });
  }
  onTokens(sampled);

  let rows = batch;
  while (rows.some((m) => !m.done)) {
    const living = rows.flatMap((m, row) => (m.done ? [] : [row]));
    // Finished sequences cost as much as living ones; moving the cache costs about one step, so move it seldom.
    if (living.length <= 0.75 * rows.length) {
      rows = rows.filter((m) => !m.done);
      cache.keep(living, longest - Math.max(...rows.map((m) => m.prompt.length)));
    }
    const columns = cache.end - cache.first;
    const ids = Int32Array.from(rows, (m) => m.ids.at(-1) ?? 0);
    // Positions count from the first token of the prompt, not from the padding before it.
    const positions = BigInt64Array.from(rows, (m) => BigInt(m.prompt.length + m.ids.length - 1));
    const feeds: Record<string, Feeds[string]> = {
      ...weights,
      ids: new Tensor('int32', ids, [rows.length]),
      positions: new Tensor('int64', positions, [rows.length, 1]),
      mask: new Tensor('float32', paddingMask(rows, longest - cache.first, columns), [rows.length, 1, columns + 1]),
      inverse_temperature: inverse,
    };
    const shape = [columns, rows.length * config.num_key_value_heads, config.head_dim];
    for (const layer of layers) {
      feeds[pastKeyName(layer)] = new Tensor('float32', cache.past(layer), shape);
      feeds[pastValueName(layer)] = new Tensor('float32', cache.past(layers.length + layer), shape);
    }
    const outputs = await context.decode.run(feeds);
    for (const layer of layers) {
      cache.append(layer, floatsOf(outputs, keyName(layer)));
      cache.append(layers.length + layer, floatsOf(outputs, valueName(layer)));
    }
    cache.advance();
    rows.forEach((member, row) => {
      if (!member.done) draw(outputs, row, member);
    });
    onTokens(sampled);
  }
}

/** Additive mask [rows, 1, columns + 1] that hides the padding before each prompt. `prompt` = columns of prompts. */
function paddingMask(rows: readonly Member[], prompt: number, columns: number): Float32Array {
  const mask = new Float32Array(rows.length * (columns + 1));
  rows.forEach((member, row) => {
    const start = row * (columns + 1);
    mask.fill(MASKED, start, start + Math.max(0, prompt - member.prompt.length));
  });
  return mask;
}

/** Rows of the batch by prompt, so that each distinct prompt is computed once. */
function groupByPrompt(batch: readonly Member[]): Map<readonly number[], number[]> {
  const byText = new Map<string, readonly number[]>();
  const rows = new Map<readonly number[], number[]>();
  batch.forEach((member, row) => {
    const key = member.prompt.join(',');
    const prompt = byText.get(key) ?? member.prompt;
    byText.set(key, prompt);
    const list = rows.get(prompt);
    if (list === undefined) rows.set(prompt, [row]);
    else list.push(row);
  });
  return rows;
}

/** Splits prompts (longest first) into prefills of at most `maxTokens` padded tokens. */
function prefillBatches(prompts: readonly (readonly number[])[], maxTokens: number): (readonly number[])[][] {
  const batches: (readonly number[])[][] = [];
  for (const prompt of prompts) {
    const last = batches.at(-1);
    const length = last?.[0]?.length ?? 0;
    if (last !== undefined && length * (last.length + 1) <= maxTokens) last.push(prompt);
    else batches.push([prompt]);
  }
  return batches;
}

async function promptFeeds(prompts: readonly (readonly number[])[]): Promise<Feeds> {
  const { Tensor } = await loadRuntime();
  const { data, shape } = timeMajor(prompts);
  const rows = BigInt64Array.from(prompts, (prompt, b) => BigInt((prompt.length - 1) * prompts.length + b));
  return { ids: new Tensor('int32', data, shape), rows: new Tensor('int64', rows, [prompts.length]) };
}

/** Inverse-CDF draw from row `row` of probabilities [B, V]. Errors: `nan_probability`. */
function pick(probs: Float32Array, row: number, vocab: number, temperature: number, random: Stream): number {
  const start = row * vocab;
  if (temperature === 0) {
    let best = 0;
    for (let i = 1; i < vocab; i++) if (probs[start + i]! > probs[start + best]!) best = i;
    if (probs[start + best]! > 0) return best;
  } else {
    const u = random.next();
    let cumulative = 0;
    let last = -1;
    for (let i = 0; i < vocab; i++) {
      const p = probs[start + i]!;
      cumulative += p;
      if (p > 0) last = i;
      if (u < cumulative) return i;
    }
    // Rounding can leave the sum a little below 1; then the draw falls to the last possible token.
    if (last >= 0 && Number.isFinite(cumulative)) return last;
  }
  throw new HoneError(
    'nan_probability',
    'the policy gives no valid probabilities (its weights are not finite)',
    'Go back to an earlier checkpoint and lower the learning rate.',
  );
}
