import { HoneError } from '../../core/error.js';
import { BYTE_CHARACTERS } from './bytes.js';

/** GPT-2's word split, as Hugging Face's ByteLevel pre-tokenizer applies it; merges never cross a word. */
const WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** A distinct word: its symbols so far and how often it occurs. */
interface Word {
  symbols: number[];
  readonly count: number;
}

/** Two symbols as one number; the order of these numbers breaks ties. */
const PAIR = 2 ** 21;
const pairOf = (left: number, right: number): number => left * PAIR + right;

/**
 * Learns a byte-level BPE (Sennrich et al. 2016) and returns a Hugging Face `tokenizer.json` object.
 *
 * Ids: the special tokens in the given order, the 256 bytes, then the merges. The most frequent pair is merged first;
 * among equals the one with the smaller ids, so that the result is a function of the texts' words and their counts.
 * Learning ends at `vocabSize` ids, or earlier when no pair occurs twice.
 * Errors: `bad_option` when `vocabSize` has no room for the bytes and special tokens.
 */
export function trainBpe(texts: Iterable<string>, vocabSize: number, specialTokens: readonly string[]): object {
  const base = specialTokens.length + 256;
  if (!(Number.isInteger(vocabSize) && vocabSize >= base && vocabSize < PAIR)) {
    throw new HoneError('bad_option', `vocabSize ${vocabSize}: must lie between ${base} and ${PAIR - 1}`);
  }
  const tokens = [...specialTokens, ...BYTE_CHARACTERS];
  const words = countWords(texts, specialTokens.length);
  const merges: [string, string][] = [];
  const pairs = new PairCounts(words);
  while (tokens.length < vocabSize) {
    const best = pairs.best();
    if (best === undefined) break;
    const left = Math.floor(best / PAIR);
    const right = best % PAIR;
    merges.push([tokens[left] ?? '', tokens[right] ?? '']);
    tokens.push(`${tokens[left]}${tokens[right]}`);
    pairs.merge(left, right, tokens.length - 1);
  }
  return tokenizerJson(specialTokens, tokens, merges);
}

function countWords(texts: Iterable<string>, firstByte: number): Word[] {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [word] of text.matchAll(WORDS)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const utf8 = new TextEncoder();
  return [...counts].map(([word, count]) => ({
    symbols: Array.from(utf8.encode(word), (byte) => firstByte + byte),
    count,
  }));
}

/** How often each pair of neighbours occurs, and in which words; kept up to date merge by merge. */
class PairCounts {
  private readonly counts = new Map<number, number>();
  private readonly places = new Map<number, Set<Word>>();

  constructor(words: readonly Word[]) {
    for (const word of words) this.add(word);
  }

  /** The most frequent pair that occurs at least twice. */
  best(): number | undefined {
    let best: number | undefined;
    let most = 1;
    for (const [pair, count] of this.counts) {
      if (count > most || (count === most && best !== undefined && pair < best)) {
        best = pair;
        most = count;
      }
    }
    return best;
  }

  merge(left: number, right: number, merged: number): void {
    for (const word of [...(this.places.get(pairOf(left, right)) ?? [])]) {
      this.remove(word);
      word.symbols = mergeSymbols(word.symbols, left, right, merged);
      this.add(word);
    }
  }

  private add(word: Word): void {
    this.forEachPair(word, (pair) => {
      this.counts.set(pair, (this.counts.get(pair) ?? 0) + word.count);
      const places = this.places.get(pair);
      if (places === undefined) this.places.set(pair, new Set([word]));
      else places.add(word);
    });
  }

  private remove(word: Word): void {
    this.forEachPair(word, (pair) => {
      const count = (this.counts.get(pair) ?? 0) - word.count;
      if (count > 0) this.counts.set(pair, count);
      else this.counts.delete(pair);
      this.places.get(pair)?.delete(word);
    });
  }

  private forEachPair({ symbols }: Word, visit: (pair: number) => void): void {
    for (let i = 1; i < symbols.length; i++) visit(pairOf(symbols[i - 1] ?? 0, symbols[i] ?? 0));
  }
}

function mergeSymbols(symbols: readonly number[], left: number, right: number, merged: number): number[] {
  const out: number[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      out.push(merged);
      i++;
    } else out.push(symbols[i] ?? 0);
  }
  return out;
}

function tokenizerJson(
  specialTokens: readonly string[],
  tokens: readonly string[],
  merges: readonly [string, string][],
): object {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: specialTokens.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges,
    },
  };
}
