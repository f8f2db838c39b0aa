import { HoneError } from '../core/error.js';
import { type Stream, stream } from '../core/seeds.js';
import type { CallTest, Language, Task } from '../core/task.js';
import { describe } from './describe.js';
import { drawSpec } from './draw.js';
import { type Example, examine } from './examine.js';
import { specKey } from './interpret.js';
import { taskLanguage } from './languages/index.js';
import { renderBody, renderPrompt } from './languages/language.js';
import type { Spec } from './spec.js';
import { type Split, splitOf } from './split.js';

/** Name of the function in every generated task. */
export const ENTRY_POINT = 'f';
export const MOST_OPERATIONS = 5;

/** A generated task with the pipeline that it was made from. */
export interface SynthTask extends Task {
  readonly spec: Spec;
  readonly difficulty: number;
  readonly reference: string;
  readonly hidden: { readonly kind: 'calls'; readonly cases: readonly CallTest[] };
}

export interface SynthOptions {
  readonly seed: number;
  readonly split: Split;
  readonly language: Language;
  /** Fewest and most composed operations, within 1–5; single operations occur in `train` only. */
  readonly difficulty: readonly [number, number];
}

const toCall = ({ input, output }: Example): CallTest => ({ args: [input], expected: output });

/**
 * The task of a spec in one language, or `undefined` when the spec makes no task (see `examine`).
 * A pure function of spec and language; wording and tests do not depend on a seed.
 */
export function taskOf(spec: Spec, language: Language): SynthTask | undefined {
  const syntax = taskLanguage(language);
  const examined = examine(spec);
  if (!examined.ok) return undefined;
  const key = specKey(spec);
  const description = describe(spec, stream(0, 'words', key));
  return {
    version: 1,
    id: `synth/${language}/${key}`,
    language,
    description,
    entryPoint: ENTRY_POINT,
    prompt: renderPrompt(syntax, ENTRY_POINT, spec.input, description, examined.visible),
    visible: examined.visible.map(toCall),
    hidden: { kind: 'calls', cases: examined.hidden.map(toCall) },
    reference: renderBody(syntax, spec),
    difficulty: spec.steps.length,
    spec,
  };
}

/** Lengths that a split offers within the wanted range. */
export function lengthsOf(split: Split, [low, high]: readonly [number, number]): number[] {
  if (!Number.isInteger(low) || !Number.isInteger(high) || low < 1 || high > MOST_OPERATIONS || low > high) {
    throw new HoneError(
      'bad_difficulty',
      `difficulty ${low}–${high} is not a range within 1–${MOST_OPERATIONS}`,
      `Give the fewest and the most operations of a task, e.g. 1 and 3.`,
    );
  }
  const from = split === 'train' ? low : Math.max(low, 2);
  if (from > high) {
    throw new HoneError(
      'bad_difficulty',
      `the ${split} split has no tasks of one operation: every operation is seen in training`,
      'Raise the difficulty to at least 2.',
    );
  }
  return Array.from({ length: high - from + 1 }, (_, i) => from + i);
}

/** A random spec of a split that makes a task, with `make` applied; draws until one does. */
export function drawTask<T>(
  random: Stream,
  split: Split,
  lengths: readonly number[],
  make: (spec: Spec) => T | undefined,
): T {
  // The length is drawn once, so that what is rejected more often is not thereby rarer.
  const length = random.pick(lengths);
  for (;;) {
    const spec = drawSpec(random, length);
    if (splitOf(spec) !== split) continue;
    const made = make(spec);
    if (made !== undefined) return made;
  }
}

/**
 * Task number `index` of an endless sequence, without drawing the ones before it.
 * Different indices may give the same task where a split has few. Errors: `bad_difficulty`, `unknown_language`.
 */
export function taskAt(options: SynthOptions & { readonly index: number }): SynthTask {
  const { seed, split, language, difficulty, index } = options;
  const lengths = lengthsOf(split, difficulty);
  taskLanguage(language);
  return drawTask(stream(seed, 'task', split, index), split, lengths, (spec) => taskOf(spec, language));
}

/** Distinct tasks without end: `taskAt` for index 0, 1, …, each task once; ends when 2000 indices bring nothing new. */
export function* synthStream(options: SynthOptions): Generator<SynthTask, void, undefined> {
  const seen = new Set<string>();
  for (let index = 0, stale = 0; stale < 2000; index++) {
    const task = taskAt({ ...options, index });
    if (seen.has(task.id)) {
      stale++;
      continue;
    }
    stale = 0;
    seen.add(task.id);
    yield task;
  }
}

/** The first `count` distinct tasks of the sequence. Errors: also `too_few_tasks`. */
export function synthTasks(options: SynthOptions & { readonly count: number }): SynthTask[] {
  const tasks: SynthTask[] = [];
  if (options.count <= 0) return tasks;
  for (const task of synthStream(options)) {
    tasks.push(task);
    if (tasks.length === options.count) return tasks;
  }
  throw new HoneError(
    'too_few_tasks',
    `the ${options.split} split has about ${tasks.length} tasks of difficulty ${options.difficulty.join('–')}, fewer than the ${options.count} wanted`,
    'Ask for fewer tasks or a wider range of difficulty.',
  );
}
