import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { DEFAULTS } from '../../app/config.js';
import { float, integer } from '../options.js';

/** Parses `3` or `2-4` as a range of difficulties. */
export function difficultyRange(text: string): [number, number] {
  const match = /^([1-5])(?:-([1-5]))?$/.exec(text.trim());
  const low = Number(match?.[1]);
  const high = Number(match?.[2] ?? match?.[1]);
  if (!match || low > high) throw new InvalidArgumentError('It must be a range within 1-5, such as 2-4.');
  return [low, high];
}

/** Parses an option that takes one of a few words. */
export function oneOf<T extends string>(...words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((w) => w === text);
    if (word === undefined) throw new InvalidArgumentError(`It must be one of: ${words.join(', ')}.`);
    return word;
  };
}

/** What a task file's broken line does, from `--skip-bad-lines`. */
export function onBadLine(skip: true | undefined): 'refuse' | 'skip' {
  return skip ? 'skip' : 'refuse';
}

/** Parses a path; an empty one would silently mean the current folder. */
export function path(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/** Values of the options that every command that samples and judges has. */
export interface SamplingOptions {
  readonly temperature: number;
  readonly maxNewTokens: number;
  readonly workers: number;
}

/** Adds `--temperature`, `--max-new-tokens` and `--workers`. */
export function samplingOptions(command: Command): Command {
  return command
    .option('--temperature <x>', 'sampling temperature', float({ min: 0.01, max: 10 }), DEFAULTS.temperature)
    .option('--max-new-tokens <n>', 'token limit of a program', integer({ min: 1 }), DEFAULTS.maxNewTokens)
    .option('--workers <n>', 'sandbox workers', integer({ min: 1, max: 256 }), availableParallelism());
}
