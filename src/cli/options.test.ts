import { expect, test } from 'vitest';
import { describeError } from './errors.js';
import { commonOptions, createCommand, examples, float, integer, list, wantsJson } from './options.js';

/** Parses a command line as the program does and returns the options, or what the user would be told. */
function parse(...argv: readonly string[]): unknown {
  const program = createCommand('hone', 'program');
  const train = commonOptions(createCommand('train', 'train a policy'))
    .option('--steps <n>', 'optimiser steps', integer({ min: 1 }), 40)
    .option('--learning-rate <x>', 'step size', float({ min: 0, max: 1 }))
    .option('--languages <list>', 'languages', list)
    .action(() => {});
  program.addCommand(train);
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    const { message, exitCode } = describeError(error);
    return `${exitCode}: ${message}`;
  }
  return train.opts();
}

test('options are parsed to numbers and lists, with defaults', () => {
  const argv = ['train', '--steps', '5', '--learning-rate', '3e-4', '--languages', 'python,javascript', '--seed', '7'];
  expect(parse(...argv, '--threads', '2', '--json')).toEqual({
    steps: 5,
    learningRate: 3e-4,
    languages: ['python', 'javascript'],
    seed: 7,
    threads: 2,
    json: true,
  });
  expect(parse('train')).toMatchObject({ steps: 40, seed: 0 });
});

test('a wrong command line ends with code 2 and one message that names the option', () => {
  const wrong = [
    ['train', '--stepz', '5'],
    ['train', '--steps', 'many'],
    ['train', '--steps', '0'],
    ['train', '--steps', '1.5'],
    ['train', '--learning-rate', '2'],
    ['train', '--learning-rate', '0x1'],
    ['train', '--threads', '0'],
    ['train', '--seed', '-1'],
    ['train', '--languages', 'python,,'],
    ['train', '--steps'],
    ['train', 'now'],
    ['trian'],
  ];
  expect(wrong.map((argv) => parse(...argv))).toMatchInlineSnapshot(`
    [
      "2: unknown option '--stepz' (Did you mean --steps?)",
      "2: option '--steps <n>' argument 'many' is invalid. It must be a whole number of at least 1.",
      "2: option '--steps <n>' argument '0' is invalid. It must be a whole number of at least 1.",
      "2: option '--steps <n>' argument '1.5' is invalid. It must be a whole number of at least 1.",
      "2: option '--learning-rate <x>' argument '2' is invalid. It must be a number from 0 to 1.",
      "2: option '--learning-rate <x>' argument '0x1' is invalid. It must be a number from 0 to 1.",
      "2: option '--threads <n>' argument '0' is invalid. It must be a whole number from 1 to 1024.",
      "2: option '--seed <n>' argument '-1' is invalid. It must be a whole number from 0 to 4294967295.",
      "2: option '--languages <list>' argument 'python,,' is invalid. It must be a list such as a,b,c.",
      "2: option '--steps <n>' argument missing",
      "2: too many arguments for 'train'. Expected 0 arguments but got 1.",
      "2: unknown command 'trian' (Did you mean train?)",
    ]
  `);
});

test('examples stand in the help', () => {
  const command = examples(createCommand('eval', 'measure a policy'), [
    'hone eval --model DIR',
    'measure a checkpoint',
  ]);
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  expect(help).toMatchInlineSnapshot(`
    "Usage: eval [options]

    measure a policy

    Options:
      -h, --help  display help for command

    Examples:
      # measure a checkpoint
      $ hone eval --model DIR
    "
  `);
});

test('--json counts before -- only', () => {
  expect(wantsJson(['train', '--json'])).toBe(true);
  expect(wantsJson(['train', '--', '--json'])).toBe(false);
  expect(wantsJson(['train'])).toBe(false);
});
