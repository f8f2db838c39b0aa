import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';

interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** Parses an option's value as a whole number within a range, bounds included. */
export function integer(range: Range = {}): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^[+-]?\d+(?:[eE]\+?\d+)?$/.test(text.trim()) || !Number.isSafeInteger(value))
      throw new InvalidArgumentError(`It must be a whole number${within(range)}.`);
    return inRange(value, range, 'a whole number');
  };
}

/** Parses an option's value as a finite number within a range, bounds included. */
export function float(range: Range = {}): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || /^[+-]?0[xob]/i.test(text.trim()) || !Number.isFinite(value))
      throw new InvalidArgumentError(`It must be a number${within(range)}.`);
    return inRange(value, range, 'a number');
  };
}

/** Parses a comma-separated list; empty items are refused. */
export function list(text: string): readonly string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.some((item) => item === '')) throw new InvalidArgumentError('It must be a list such as a,b,c.');
  return items;
}

function inRange(value: number, range: Range, what: string): number {
  if (value < (range.min ?? -Infinity) || value > (range.max ?? Infinity))
    throw new InvalidArgumentError(`It must be ${what}${within(range)}.`);
  return value;
}

function within({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}

/** Options that every command with a run has. */
export interface CommonOptions {
  readonly json?: true;
  readonly seed: number;
  readonly threads: number;
}

/** `--json`: one JSON object a line on stdout and nothing else there. */
export function jsonOption(): Option {
  return new Option('--json', 'print one JSON object a line');
}

/** Adds `--json`, `--seed` and `--threads`; their values have the type `CommonOptions`. */
export function commonOptions(command: Command, defaults: { readonly seed?: number } = {}): Command {
  return command
    .option(
      '--seed <n>',
      'seed of every random choice; the same seed gives the same run',
      integer({ min: 0, max: 2 ** 32 - 1 }),
      defaults.seed ?? 0,
    )
    .option(
      '--threads <n>',
      'CPU threads of the engine; runs repeat bit for bit with the same number',
      integer({ min: 1, max: 1024 }),
      availableParallelism(),
    )
    .addOption(jsonOption());
}

/** Adds examples to a command's `--help`: pairs of a command line and what it does. */
export function examples(command: Command, ...pairs: readonly (readonly [string, string])[]): Command {
  const lines = pairs.flatMap(([line, what]) => [`  # ${what}`, `  $ ${line}`, '']);
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n').trimEnd());
}

/**
 * A command that throws `CommanderError` instead of ending the process and leaves printing errors to `reportError`.
 * Subcommands made with `.command()` inherit this; those added with `.addCommand()` must be made with this too.
 */
export function createCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .exitOverride()
    .showSuggestionAfterError()
    .allowExcessArguments(false)
    .configureOutput({ outputError: () => {} });
}

/** Whether the command line asks for JSON; to report errors of the command line itself in the form that was asked for. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}
