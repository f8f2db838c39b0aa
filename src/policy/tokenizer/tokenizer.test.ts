import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../model/config.js';
import { TIED } from '../models.testing.js';
import { buildTokenizer, defaultTokenizerConfig } from './tokenizer.js';
import { trainBpe } from './train-bpe.js';

const TEXTS = [
  'const numbers = [1, 2, 3]; return numbers.map((n) => n * 2);\n'.repeat(3),
  'function add(a, b) {\n  return a + b;\n}\n',
  'def add(a, b):\n    return a + b\n',
  'function total(numbers) {\n  let sum = 0;\n  for (const n of numbers) sum += n;\n  return sum;\n}\n',
];
const SPECIAL = ['<|end|>', '<|javascript|>'];
const trained = trainBpe(TEXTS, 300, SPECIAL) as {
  model: { vocab: Record<string, number>; merges: [string, string][] };
};
const config = parseConfig({ ...TIED, vocab_size: 320, eos_token_id: 0 });
const tokenizer = buildTokenizer(trained, {}, config);

describe('trainBpe', () => {
  test('ids are the special tokens, the bytes, then the merges', () => {
    const { vocab, merges } = trained.model;
    expect(vocab['<|end|>']).toBe(0);
    expect(vocab['<|javascript|>']).toBe(1);
    expect(new Set(Object.values(vocab)).size).toBe(300);
    expect(merges.length).toBe(300 - 256 - 2);
    expect(Object.values(vocab).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });

  test('the first merge is the most frequent pair, ties to the smaller ids', () => {
    const merges = (texts: string[]): unknown =>
      (trainBpe(texts, 258, []) as typeof trained).model.merges.map(([a, b]) => a + b);
    // Once as a word, once within another: "bc" occurs three times.
    expect(merges(['abc', 'bc', 'bc'])).toEqual(['bc', 'abc'].slice(0, 1));
    expect(merges(['xy', 'xy', 'ab', 'ab'])).toEqual(['ab', 'xy']);
  });

  test('the result depends on the words and their counts, not on their order', () => {
    expect(trainBpe([...TEXTS].reverse(), 300, SPECIAL)).toEqual(trained);
  });

  test('it ends early when no pair occurs twice', () => {
    const { model } = trainBpe(['ab'], 400, []) as typeof trained;
    expect(Object.keys(model.vocab).length).toBe(256);
  });

  test('a vocabulary without room for the bytes is refused', () => {
    expect(() => trainBpe(TEXTS, 257, SPECIAL)).toThrow('vocabSize 257: must lie between 258');
  });
});

test('any text survives encoding and decoding', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.string()), (text) => {
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    }),
    { numRuns: 500 },
  );
  for (const text of ['', ' ', '\n\n  x\t', "it's  'll", 'naïve 日本語 😀 👩‍👩‍👧', ...TEXTS]) {
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  }
});

test('merges shorten the texts they were learnt from', () => {
  const text = TEXTS.join('');
  expect(tokenizer.encode(text).length).toBeLessThan(0.7 * text.length);
});

test('special tokens are single ids; the end token has no text', () => {
  expect(tokenizer.encode('<|javascript|>x')).toEqual([1, tokenizer.encode('x')[0]]);
  expect(tokenizer.decode([1, ...tokenizer.encode('ok'), 0])).toBe('<|javascript|>ok');
  expect(tokenizer.eosId).toBe(0);
  expect(tokenizer.vocabSize).toBe(300);
});

describe('special tokens of a prompt', () => {
  const template = {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '<|javascript|>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: { '<|javascript|>': { id: '<|javascript|>', ids: [1], tokens: ['<|javascript|>'] } },
  };
  const byteLevel = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: false, use_regex: true };

  test.each([
    ['by a template, as Llama 2', template],
    ['by a sequence with a template, as Llama 3', { type: 'Sequence', processors: [byteLevel, template] }],
  ])('a begin token is added %s does, and only where asked for', (_, post_processor) => {
    const withBegin = buildTokenizer({ ...trained, post_processor }, {}, config);
    for (const text of ['', ' a', TEXTS[0]!]) {
      expect(withBegin.encode(text)).toEqual(tokenizer.encode(text));
      expect(withBegin.encode(text, { addSpecialTokens: true })).toEqual([1, ...tokenizer.encode(text)]);
    }
  });

  test('our own tokenizer adds none', () => {
    for (const text of ['', ' a', ...TEXTS]) {
      expect(tokenizer.encode(text, { addSpecialTokens: true })).toEqual(tokenizer.encode(text));
    }
  });
});

test('ids that only the model knows have no text', () => {
  expect(tokenizer.decode([310, ...tokenizer.encode('ok'), 319])).toBe('ok');
  expect(tokenizer.decode([310])).toBe('');
});

test('a tokenizer with more ids than the model is refused', () => {
  expect(() => buildTokenizer(trained, {}, { ...config, vocab_size: 299 }, 'm/tokenizer.json')).toThrow(
    "m/tokenizer.json: has ids up to 299, but the model's vocabulary (vocab_size) is 299",
  );
  expect(buildTokenizer(trained, {}, { ...config, vocab_size: 300 }).vocabSize).toBe(300);
});

test('the end token may be named by the tokenizer config', () => {
  const withoutEos = { ...config, eos_token_id: null };
  expect(buildTokenizer(trained, { eos_token: '<|javascript|>' }, withoutEos).eosId).toBe(1);
  expect(buildTokenizer(trained, { eos_token: { content: '<|end|>' } }, withoutEos).eosId).toBe(0);
  expect(() => buildTokenizer(trained, {}, withoutEos)).toThrow('no end token');
  const written = defaultTokenizerConfig(tokenizer, trained, config);
  expect(buildTokenizer(trained, written, withoutEos).eosId).toBe(0);
});

test('something else than a tokenizer is refused', () => {
  expect(() => buildTokenizer({ model: { type: 'x' } }, {}, config, 'm/tokenizer.json')).toThrow(
    expect.objectContaining({ code: 'bad_tokenizer', message: expect.stringContaining('m/tokenizer.json') }),
  );
});
