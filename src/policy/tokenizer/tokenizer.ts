import { Tokenizer as HubTokenizer } from '@huggingface/tokenizers';
import { HoneError } from '../../core/error.js';
import type { EncodeOptions, Tokenizer } from '../../core/policy.js';
import type { DecoderConfig } from '../model/config.js';

/** Text to ids and back by a Hugging Face `tokenizer.json`. */
class HubBackedTokenizer implements Tokenizer {
  constructor(
    private readonly hub: HubTokenizer,
    readonly vocabSize: number,
    readonly eosId: number,
  ) {}

  encode(text: string, { addSpecialTokens = false }: EncodeOptions = {}): number[] {
    if (text === '' && !addSpecialTokens) return [];
    return this.hub.encode(text, { add_special_tokens: addSpecialTokens }).ids;
  }

  /**
   * The end token has no text, nor have ids that only the model knows (a vocabulary padded to a round size); other
   * special tokens are written out. Bytes that are not UTF-8 become U+FFFD.
   */
  decode(ids: readonly number[]): string {
    const text = ids.filter((id) => id !== this.eosId && this.hub.id_to_token(id) !== undefined);
    if (text.length === 0) return '';
    return this.hub.decode(text, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  }
}

/**
 * Builds the tokenizer of a model. The end token is config's `eos_token_id`, else the tokenizer config's `eos_token`.
 * Errors: `bad_tokenizer`, `tokenizer_mismatch` when it has ids that the model lacks, each naming `file`.
 */
export function buildTokenizer(
  tokenizerJson: object,
  tokenizerConfig: object,
  config: DecoderConfig,
  file = 'tokenizer.json',
): Tokenizer {
  let hub: HubTokenizer;
  let vocabulary: Map<string, number>;
  try {
    hub = new HubTokenizer(tokenizerJson, { clean_up_tokenization_spaces: false, ...tokenizerConfig });
    vocabulary = hub.get_vocab(true);
  } catch (error) {
    throw new HoneError(
      'bad_tokenizer',
      `${file}: not a tokenizer that can be used: ${error instanceof Error ? error.message : String(error)}`,
      'Fetch the file again or use the tokenizer.json that belongs to the model.',
    );
  }
  let largest = -1;
  for (const id of vocabulary.values()) largest = Math.max(largest, id);
  if (largest >= config.vocab_size) {
    throw new HoneError(
      'tokenizer_mismatch',
      `${file}: has ids up to ${largest}, but the model's vocabulary (vocab_size) is ${config.vocab_size}`,
      'Use the tokenizer.json that belongs to the model.',
    );
  }
  const eosId = config.eos_token_id ?? hub.token_to_id(eosToken(tokenizerConfig) ?? '');
  if (eosId === undefined) {
    throw new HoneError(
      'bad_tokenizer',
      `${file}: no end token: config.json has no eos_token_id and tokenizer_config.json no known eos_token`,
      'Set eos_token_id in config.json.',
    );
  }
  return new HubBackedTokenizer(hub, largest + 1, eosId);
}

/** `eos_token` is a string or an object that describes an added token. */
function eosToken(tokenizerConfig: object): string | undefined {
  const value: unknown = (tokenizerConfig as { eos_token?: unknown }).eos_token;
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : undefined;
}

/** A `tokenizer_config.json` with which other software loads the tokenizer. */
export function defaultTokenizerConfig(tokenizer: Tokenizer, tokenizerJson: object, config: DecoderConfig): object {
  const added = (tokenizerJson as { added_tokens?: readonly { id: number; content: string }[] }).added_tokens ?? [];
  const eos = added.find((token) => token.id === tokenizer.eosId);
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length: config.max_position_embeddings,
    clean_up_tokenization_spaces: false,
    ...(eos === undefined ? {} : { eos_token: eos.content }),
  };
}
