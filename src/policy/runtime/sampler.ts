import { HoneError } from '../../core/error.js';
import type { Completion, SampleOptions, SampleRequest } from '../../core/policy.js';
import { type Stream, stream } from '../../core/seeds.js';
import type { DecoderConfig } from '../model/config.js';
import {
  keyName,
  MASKED,
  pastKeyName,
  pastValueName,
  prefixKeyName,
  prefixValueName,
  valueName,
} from '../model/graphs.js';
import { checkSequence, timeMajor } from './batch.js';
import { type BufferPool, KeyValueCache } from './cache.js';
import { inverseTemperature, notProbabilities } from './probabilities.js';
import { type Feeds, floatsOf, loadRuntime, type Outputs, type Program } from './program.js';
import { layOutSlots, type SlotLayout } from './slots.js';

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
  const prompts = new Map<string, readonly number[]>();
  const members = requests.flatMap((request, i) => {
    // Equal prompts become the very same array.
    const key = request.promptIds.join();
    const prompt = prompts.get(key) ?? request.promptIds;
    prompts.set(key, prompt);
    return membersOf(context, { ...request, promptIds: prompt }, i, options);
  });
  // Long prompts first, so that a batch holds prompts of similar length. Sorting is stable: ties keep the order of the
  // requests, and equal prompts are adjacent.
  const order = [...prompts.values()]
    .sort((a, b) => b.length - a.length)
    .flatMap((prompt) => members.filter((member) => member.prompt === prompt));
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
  { seed, maxNewTokens }: Omit<SampleOptions, 'onProgress'>,
): Member[] {
  checkSequence(config, { promptIds: request.promptIds, completionIds: [] }, index);
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
  const { config, weights, pool } = context;
  const layers = Array.from({ length: config.num_hidden_layers }, (_, i) => i);
  const inverse = await inverseTemperature(temperature === 0 ? 1 : temperature);

  let sampled = 0;
  /** Draws the next token of a member from row `row` of the outputs. */
  const draw = (outputs: Outputs, row: number, member: Member): void => {
    const probs = floatsOf(outputs, 'probs');
    const id = pick(probs, row, config.vocab_size, temperature, member.random);
    member.ids.push(id);
    member.logprobs.push(Math.log(probs[row * config.vocab_size + id] ?? 0));
    const entropy = floatsOf(outputs, 'entropy')[row];
    if (!Number.isFinite(entropy)) throw notProbabilities();
    member.entropies.push(entropy as number);
    member.done = id === context.eosId || member.ids.length >= member.limit;
    sampled++;
  };

  let layout = layOutSlots(batch);
  // A prompt's last token opens each tail, so that no tail is ever empty; a prefix of length 0 is one masked column.
  const prefix = new KeyValueCache(config, layout.groups.length, prefixColumns(layout), prefixColumns(layout), pool);
  const longestTail = 1 + Math.max(...batch.map((m) => m.limit));
  const tail = new KeyValueCache(config, layout.slots.length, 1, longestTail, pool);
  for (const prompts of prefillBatches(distinctPrompts(batch), context.maxTokens)) {
    const outputs = await context.prefill.run({
      ...weights,
      inverse_temperature: inverse,
      ...(await promptFeeds(prompts)),
    });
    prompts.forEach((prompt, b) => {
      const length = prompt.length;
      for (const [group, { prompt: own, members }] of layout.groups.entries()) {
        if (own !== prompt) continue;
        for (const layer of layers) {
          for (const [buffer, name] of [
            [layer, keyName(layer)],
            [layers.length + layer, valueName(layer)],
          ] as const) {
            const source = floatsOf(outputs, name);
            prefix.fill(buffer, group, source, prompts.length, b, 0, length - 1);
            for (let i = 0; i < layout.members; i++) {
              tail.fill(buffer, group * layout.members + i, source, prompts.length, b, length - 1, length);
            }
          }
        }
        for (const member of members) draw(outputs, b, member);
      }
    });
  }
  onTokens(sampled);

  let living = batch.filter((m) => !m.done);
  while (living.length > 0) {
    // Finished sequences cost as much as living ones; moving the cache costs about one step, so move it seldom.
    if (living.length <= 0.8 * layout.slots.length) {
      const next = layOutSlots(living);
      if (next.slots.length <= 0.8 * layout.slots.length) {
        const oldSlot = new Map(layout.slots.map((member, slot) => [member, slot]));
        const slotOf = (member: Member | undefined): number | undefined =>
          member === undefined ? undefined : oldSlot.get(member);
        const oldMembers = layout.members;
        prefix.rearrange(
          next.groups.map(({ members }) => Math.floor((slotOf(members[0]) ?? 0) / oldMembers)),
          prefixColumns(next),
        );
        tail.rearrange(next.slots.map(slotOf), tail.columns);
        layout = next;
      }
    }
    const { groups, slots } = layout;
    const ids = Int32Array.from(slots, (m) => m?.ids.at(-1) ?? 0);
    // Empty slots and finished members compute something that nobody reads. They take position 0, for one that has
    // filled the context has no position left within the rotary table.
    const positions = BigInt64Array.from(slots, (m) =>
      BigInt(m === undefined || m.done ? 0 : m.prompt.length + m.ids.length - 1),
    );
    const feeds: Record<string, Feeds[string]> = {
      ...weights,
      ids: new Tensor('int32', ids, [slots.length]),
      positions: new Tensor('int64', positions, [slots.length, 1]),
      padding_mask: new Tensor('float32', paddingMask(layout, prefix.columns), [groups.length, 1, prefix.columns]),
      inverse_temperature: inverse,
    };
    const { num_key_value_heads: kvHeads, head_dim: headDim } = config;
    const prefixShape = [prefix.columns, prefix.rows * kvHeads, headDim];
    const tailShape = [tail.columns, tail.rows * kvHeads, headDim];
    for (const layer of layers) {
      const value = layers.length + layer;
      feeds[prefixKeyName(layer)] = new Tensor('float32', prefix.view(layer), prefixShape);
      feeds[prefixValueName(layer)] = new Tensor('float32', prefix.view(value), prefixShape);
      feeds[pastKeyName(layer)] = new Tensor('float32', tail.view(layer), tailShape);
      feeds[pastValueName(layer)] = new Tensor('float32', tail.view(value), tailShape);
    }
    const outputs = await context.decode.run(feeds);
    for (const layer of layers) {
      tail.append(layer, floatsOf(outputs, keyName(layer)));
      tail.append(layers.length + layer, floatsOf(outputs, valueName(layer)));
    }
    tail.advance();
    slots.forEach((member, slot) => {
      if (member !== undefined && !member.done) draw(outputs, slot, member);
    });
    living = living.filter((m) => !m.done);
    onTokens(sampled);
  }
  prefix.release();
  tail.release();
}

/** Columns of the prefix cache: the longest prompt without its last token, at least 1. */
const prefixColumns = ({ groups }: SlotLayout<Member>): number =>
  Math.max(1, ...groups.map(({ prompt }) => prompt.length - 1));

/** Additive mask [groups, 1, columns] that hides the padding after each prefix. */
function paddingMask({ groups }: SlotLayout<Member>, columns: number): Float32Array {
  const mask = new Float32Array(groups.length * columns);
  groups.forEach(({ prompt }, i) => {
    mask.fill(MASKED, i * columns + prompt.length - 1, (i + 1) * columns);
  });
  return mask;
}

/** The prompts of a batch, each once; the members of a batch hold the very same array where prompts are equal. */
const distinctPrompts = (batch: readonly Member[]): (readonly number[])[] => [...new Set(batch.map((m) => m.prompt))];

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
  throw notProbabilities();
}
