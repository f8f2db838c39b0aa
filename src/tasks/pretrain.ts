import { type Stream, stream } from '../core/seeds.js';
import type { Language } from '../core/task.js';
import { describe } from './describe.js';
import { examine, passes } from './examine.js';
import { taskLanguage } from './languages/index.js';
import { renderBody, renderPrompt, type Style } from './languages/language.js';
import { type MutationKind, mutations } from './mutate.js';
import type { Spec } from './spec.js';
import { splitOf } from './split.js';
import { drawTask, ENTRY_POINT, lengthsOf } from './synth.js';

/** A prompt and a program as a person might have written it, right or wrong. */
export interface PretrainExample {
  readonly prompt: string;
  readonly completion: string;
  readonly language: Language;
  readonly difficulty: number;
  /** What the prompt asks for. */
  readonly spec: Spec;
  /** What the completion computes; differs from `spec` on the hidden tests when not `correct`. */
  readonly written: Spec;
  readonly correct: boolean;
  /** The mistake in the completion. */
  readonly mistake?: MutationKind;
}

export interface PretrainOptions {
  readonly seed: number;
  readonly languages: readonly Language[];
  /** Share of examples whose program has a mistake, in [0, 1]. */
  readonly errorRate: number;
  /** Fewest and most composed operations; default 1 to 5. */
  readonly difficulty?: readonly [number, number];
  /** Weights of tasks of 1, 2, …, 5 operations; default 3, 4, 4, 3, 2. */
  readonly difficultyWeights?: readonly number[];
  /** Chance that a program is written in another than the plainest style; default 0.3. */
  readonly styleRate?: number;
}

/** Errors: `bad_difficulty`. */
function drawLength(
  random: Stream,
  { difficulty = [1, 5], difficultyWeights = [3, 4, 4, 3, 2] }: PretrainOptions,
): number {
  const lengths = lengthsOf('train', difficulty);
  const weights = lengths.map((length) => difficultyWeights[length - 1] ?? 0);
  let u = random.next() * weights.reduce((a, b) => a + b, 0);
  const at = weights.findIndex((weight) => {
    u -= weight;
    return u < 0;
  });
  return lengths[Math.max(at, 0)] as number;
}

/** Example number `index` of the corpus; train split only, wrong programs included. */
export function pretrainExampleAt(options: PretrainOptions, index: number): PretrainExample {
  const { seed, languages, errorRate, styleRate = 0.3 } = options;
  const random = stream(seed, 'pretrain', index);
  const language = random.pick(languages);
  const syntax = taskLanguage(language);
  const wrong = random.next() < errorRate;
  const length = drawLength(random, options);

  return drawTask(random, 'train', [length], (spec): PretrainExample | undefined => {
    const examined = examine(spec, 1 + random.int(1_000_000));
    if (!examined.ok) return undefined;
    let written = spec;
    let mistake: MutationKind | undefined;
    if (wrong) {
      // A mutant of a held-out composition would show the policy what it must not have seen.
      const mutant = random
        .shuffle(mutations(spec))
        .find(({ spec: other }) => splitOf(other) === 'train' && !passes(other.steps, examined.hidden));
      if (mutant === undefined) return undefined;
      written = mutant.spec;
      mistake = mutant.kind;
    }
    const varied = random.next() < styleRate;
    const style: Style = {
      template: (n) => (varied ? random.int(n) : 0),
      name: () => varied && random.next() < 0.2,
    };
    const description = describe(spec, random);
    return {
      prompt: renderPrompt(syntax, ENTRY_POINT, spec.input, description, examined.visible),
      completion: renderBody(syntax, written, style),
      language,
      difficulty: spec.steps.length,
      spec,
      written,
      correct: mistake === undefined,
      ...(mistake === undefined ? {} : { mistake }),
    };
  });
}

/** The corpus without end: `pretrainExampleAt` for index 0, 1, … */
export function* pretrainExamples(options: PretrainOptions): Generator<PretrainExample, never, undefined> {
  for (let index = 0; ; index++) yield pretrainExampleAt(options, index);
}
