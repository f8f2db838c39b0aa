import { HoneError } from '../core/error.js';
import type { CallTest, Task } from '../core/task.js';
import type { Value } from '../core/value.js';
import { taskLanguage } from './languages/index.js';
import { renderPrompt } from './languages/language.js';
import type { Data, Type } from './spec.js';
import { ENTRY_POINT } from './synth.js';

function parseValue(text: string, example: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new HoneError(
      'bad_example',
      `example ${JSON.stringify(example)}: ${JSON.stringify(text.trim())} is not JSON`,
      "Write it as '[1, 2] -> 3'.",
      2,
    );
  }
}

/** Parses `INPUT -> OUTPUT`, JSON on both sides, as one call of a function of one argument. Errors: `bad_example`. */
export function parseExample(text: string): CallTest {
  const at = text.lastIndexOf('->');
  if (at < 0)
    throw new HoneError('bad_example', `example ${JSON.stringify(text)} has no "->"`, "Write it as '[1, 2] -> 3'.", 2);
  return { args: [parseValue(text.slice(0, at), text)], expected: parseValue(text.slice(at + 2), text) };
}

/** The grammar's type of a value, which names the function's parameter. */
function typeOf(value: Value): Type {
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return typeof value[0] === 'string' ? 'strs' : 'ints';
  return value !== null && typeof value === 'object' ? 'dict' : 'int';
}

/**
 * A task in a person's own words, prompted as generated tasks are and judged by its examples.
 * The prompt shows the first two of them. Errors: `bad_example`, `unknown_language`.
 */
export function describedTask(options: {
  readonly language: string;
  readonly description: string;
  readonly examples: readonly string[];
}): Task {
  const syntax = taskLanguage(options.language);
  const cases = options.examples.map(parseExample);
  const [first] = cases;
  if (!first)
    throw new HoneError(
      'no_examples',
      'a described task needs at least one example to be judged by',
      "Add --example '[1, 2] -> 3'.",
      2,
    );
  const description = options.description.replace(/\s+/g, ' ').trim();
  const shown = cases.slice(0, 2).map(({ args, expected }) => ({ input: args[0] as Data, output: expected as Data }));
  return {
    version: 1,
    id: 'described',
    language: options.language,
    description,
    entryPoint: ENTRY_POINT,
    prompt: renderPrompt(syntax, ENTRY_POINT, typeOf(first.args[0] as Value), description, shown),
    visible: cases.slice(0, 2),
    hidden: { kind: 'calls', cases },
  };
}
