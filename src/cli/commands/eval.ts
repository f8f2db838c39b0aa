import type { Command } from 'commander';
import { DEFAULT_DIFFICULTY, DEFAULTS } from '../../app/config.js';
import { evaluatePolicy, verdictCounts } from '../../app/evaluation.js';
import { BASE_MODEL } from '../../app/package.js';
import { fileTasks } from '../../app/task-source.js';
import { HoneError } from '../../core/error.js';
import type { Task } from '../../core/task.js';
import { synthTasks } from '../../tasks/index.js';
import { percent, printable } from '../display/format.js';
import { createProgress } from '../display/index.js';
import { interval } from '../display/lines.js';
import { commonOptions, createCommand, examples, integer } from '../options.js';
import { difficultyRange, onBadLine, oneOf, path, type SamplingOptions, samplingOptions } from './shared.js';

interface EvalOptions extends SamplingOptions {
  readonly model: string;
  readonly tasks?: string;
  readonly skipBadLines?: true;
  readonly split: 'heldout' | 'validation' | 'train';
  readonly language: string;
  readonly difficulty: [number, number];
  readonly count: number;
  readonly samples: number;
  readonly k: number[];
  readonly seed: number;
  readonly threads: number;
  readonly json?: true;
}

function tasksOf(options: EvalOptions): (languages: readonly string[]) => readonly Task[] {
  return (languages) => {
    if (options.tasks !== undefined) {
      const file = fileTasks(options.tasks, onBadLine(options.skipBadLines), languages);
      for (const problem of file.problems) process.stderr.write(`warning: skipped ${printable(problem)}\n`);
      return file.tasks;
    }
    const { split, language, difficulty, count } = options;
    if (!languages.includes(language))
      throw new HoneError(
        'language_unavailable',
        `${language} can't be run here (can: ${languages.join(', ')})`,
        'See `hone doctor`.',
      );
    return synthTasks({ seed: 0, split, language, difficulty, count });
  };
}

const ksOf = (text: string): number[] => text.split(',').map((part) => integer({ min: 1 })(part));

export function evalCommand(): Command {
  const command = createCommand('eval', 'Measure pass@k of a checkpoint, with 95 % intervals.')
    .option('--model <dir>', 'checkpoint', path, BASE_MODEL)
    .option('--tasks <file>', 'a .jsonl file of tasks instead of generated ones', path)
    .option('--skip-bad-lines', 'skip broken lines of the task file')
    .option(
      '--split <name>',
      'generated split: heldout, validation or train',
      oneOf('heldout', 'validation', 'train'),
      'heldout',
    )
    .option('--language <name>', 'language of the generated tasks', 'javascript')
    .option('--difficulty <range>', 'composed operations', difficultyRange, [...DEFAULT_DIFFICULTY])
    .option('--count <n>', 'generated tasks', integer({ min: 1 }), DEFAULTS.evaluationTasks)
    .option('--samples <n>', 'completions a task', integer({ min: 1 }), DEFAULTS.evaluationSamples)
    .option('--k <list>', 'values of k', ksOf, [1, 8]);
  samplingOptions(command);
  commonOptions(command, { seed: DEFAULTS.seed });
  examples(
    command,
    ['hone eval', 'the shipped base policy on held-out tasks'],
    ['hone eval --model runs/train-1/checkpoints/step-85 --samples 64 --k 1,8,64', 'a trained one, with more samples'],
    ['hone eval --tasks my-tasks.jsonl --json', 'tasks of your own'],
  );
  return command.action(async (options: EvalOptions) => {
    const ks = [...new Set(options.k)].sort((a, b) => a - b);
    const most = ks.at(-1) as number;
    if (most > options.samples)
      throw new HoneError(
        'usage',
        `pass@${most} needs at least ${most} samples, --samples is ${options.samples}`,
        'Raise --samples or leave out that k.',
        2,
      );
    const progress = createProgress({ stream: process.stderr, label: 'evaluate', unit: 'tasks' });
    const split = options.tasks === undefined ? options.split : 'file';
    try {
      const { metrics, groups } = await evaluatePolicy(
        { ...options, ks, split },
        tasksOf(options),
        progress.update,
        (message) =>
          void process.stderr.write(`warning: ${printable(message)}
`),
      );
      progress.close();
      const verdicts = verdictCounts(groups);
      if (options.json) {
        process.stdout.write(`${JSON.stringify({ ...metrics, verdicts })}\n`);
        return;
      }
      process.stdout.write(
        `${metrics.tasks} tasks (${split}), ${metrics.samples} samples each, temperature ${metrics.temperature}\n`,
      );
      for (const [k, estimate] of Object.entries(metrics.passAt))
        process.stdout.write(`pass@${k}  ${interval(estimate)}\n`);
      const total = Object.values(verdicts).reduce((a, b) => a + b, 0);
      for (const [verdict, n] of Object.entries(verdicts).sort((a, b) => b[1] - a[1]))
        process.stdout.write(`${verdict}  ${n} (${percent(n / total)})\n`);
    } finally {
      progress.close();
    }
  });
}
