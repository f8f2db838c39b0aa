import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { DEFAULT_DIFFICULTY, DEFAULTS, type TaskSourceConfig, type TrainConfig } from '../../app/config.js';
import { BASE_MODEL } from '../../app/package.js';
import { fileHash } from '../../app/task-source.js';
import { resumeTraining, startTraining } from '../../app/training.js';
import { HoneError } from '../../core/error.js';
import type { RunEvent } from '../../core/events.js';
import { commandName } from '../command-name.js';
import { shellQuote, shortPath } from '../display/format.js';
import { createDisplay } from '../display/index.js';
import { onInterruptSay } from '../interrupt.js';
import { commonOptions, createCommand, examples, float, integer, list } from '../options.js';
import { difficultyRange, onBadLine, oneOf, path, samplingOptions } from './shared.js';

interface TrainOptions extends Omit<typeof DEFAULTS, 'seed'> {
  readonly model: string;
  readonly tasks?: string;
  readonly skipBadLines?: true;
  readonly holdout: number;
  readonly languages: readonly string[];
  readonly difficulty: [number, number];
  readonly evaluate: 'heldout' | 'validation';
  readonly out?: string;
  readonly resume?: string;
  readonly seed: number;
  readonly threads: number;
  readonly workers: number;
  readonly json?: true;
}

function taskSource(options: TrainOptions): TaskSourceConfig {
  if (options.tasks === undefined)
    return {
      kind: 'synth',
      languages: [...options.languages],
      difficulty: options.difficulty,
      evaluate: options.evaluate,
    };
  return {
    kind: 'file',
    path: resolve(options.tasks),
    onBadLine: onBadLine(options.skipBadLines),
    sha256: fileHash(options.tasks),
    holdout: options.holdout,
  };
}

function toConfig(options: TrainOptions): TrainConfig {
  const knobs = Object.fromEntries(
    (Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]).map((key) => [key, options[key]]),
  ) as { -readonly [key in keyof typeof DEFAULTS]: number };
  return {
    ...knobs,
    model: resolve(options.model),
    tasks: taskSource(options),
    threads: options.threads,
    workers: options.workers,
  };
}

/** `--resume` takes everything from run.json: any other setting beside it would be silently ignored, so it is refused. */
function refuseSettingsOnResume(command: Command): void {
  const allowed = new Set(['resume', 'json']);
  const extra = command.options.find(
    (o) => !allowed.has(o.attributeName()) && command.getOptionValueSource(o.attributeName()) === 'cli',
  );
  if (extra)
    throw new HoneError(
      'usage',
      `--resume continues with the settings of the run; ${extra.long} can't be changed`,
      'Leave it out.',
      2,
    );
}

export function trainCommand(): Command {
  const command = createCommand('train', 'Train a policy to write programs that pass their tests (GRPO).')
    .option('--model <dir>', 'checkpoint to start from', path, BASE_MODEL)
    .option('--tasks <file>', 'train on this .jsonl file of tasks instead of generated ones (docs/tasks.md)', path)
    .option('--skip-bad-lines', 'skip broken lines of the task file instead of refusing to start')
    .option(
      '--holdout <share>',
      'share of the task file that is held out for evaluation',
      float({ min: 0, max: 0.9 }),
      0.2,
    )
    .option('--languages <list>', 'languages of the generated tasks', list, ['javascript'])
    .option('--difficulty <range>', 'composed operations of the generated tasks', difficultyRange, [
      ...DEFAULT_DIFFICULTY,
    ])
    .option(
      '--evaluate <split>',
      'generated split to evaluate on: heldout, or validation while tuning',
      oneOf('heldout', 'validation'),
      'heldout',
    )
    .option('--out <dir>', 'run folder (default: the next free runs/train-N)', path)
    .option('--resume <dir>', 'continue the run in this folder', path)
    .option('--steps <n>', 'optimiser steps', integer({ min: 1 }), DEFAULTS.steps)
    .option('--prompts-per-step <n>', 'groups a step', integer({ min: 1 }), DEFAULTS.promptsPerStep)
    .option('--group-size <n>', 'completions a group', integer({ min: 2 }), DEFAULTS.groupSize)
    .option('--learning-rate <x>', 'peak learning rate', float({ min: 0 }), DEFAULTS.learningRate)
    .option('--warmup-steps <n>', 'steps of linear warm-up', integer({ min: 0 }), DEFAULTS.warmupSteps)
    .option(
      '--final-learning-rate-share <x>',
      'share of the peak learning rate that is left at the last step',
      float({ min: 0, max: 1 }),
      DEFAULTS.finalLearningRateShare,
    )
    .option('--weight-decay <x>', 'decoupled weight decay', float({ min: 0 }), DEFAULTS.weightDecay)
    .option('--max-grad-norm <x>', 'largest global gradient norm', float({ min: 0 }), DEFAULTS.maxGradNorm)
    .option('--clip-low <x>', 'lower clip of the ratio', float({ min: 0, max: 1 }), DEFAULTS.clipLow)
    .option('--clip-high <x>', 'upper clip of the ratio', float({ min: 0 }), DEFAULTS.clipHigh)
    .option(
      '--evaluate-every <n>',
      'steps between evaluations, 0 for none on the way',
      integer({ min: 0 }),
      DEFAULTS.evaluateEvery,
    )
    .option('--evaluation-tasks <n>', 'tasks in an evaluation', integer({ min: 1 }), DEFAULTS.evaluationTasks)
    .option(
      '--evaluation-samples <n>',
      'samples a task, before and after',
      integer({ min: 1 }),
      DEFAULTS.evaluationSamples,
    )
    .option('--interim-samples <n>', 'samples a task, on the way', integer({ min: 1 }), DEFAULTS.interimSamples)
    .option('--checkpoint-every <n>', 'steps between checkpoints', integer({ min: 1 }), DEFAULTS.checkpointEvery)
    .option(
      '--keep-checkpoints <n>',
      'newest checkpoints to keep, beside the base',
      integer({ min: 1 }),
      DEFAULTS.keepCheckpoints,
    )
    .option(
      '--max-infra-share <x>',
      'stop when more programs of a step than this share could not be judged',
      float({ min: 0, max: 1 }),
      DEFAULTS.maxInfraShare,
    );
  samplingOptions(command);
  commonOptions(command, { seed: DEFAULTS.seed });
  examples(
    command,
    ['hone train', 'the main job: the shipped base policy learns to write programs, in minutes'],
    ['hone train --tasks my-tasks.jsonl --steps 100', 'train on tasks of your own'],
    ['hone train --resume runs/train-1', 'continue an interrupted run, to the same bits'],
    [
      `hone train --json | jq -c 'select(.type == "step").metrics'`,
      'the metrics of every step, one JSON object a line',
    ],
  );
  return command.action(async (options: TrainOptions) => {
    const shown = createDisplay({ stream: process.stdout, mode: options.json ? 'json' : 'auto' });
    const display = {
      close: shown.close,
      event: (event: RunEvent) => {
        if (event.type === 'start')
          onInterruptSay(`continue with ${commandName()} train --resume ${shellQuote(shortPath(event.directory))}`);
        shown.event(event);
      },
    };
    try {
      if (options.resume !== undefined) {
        refuseSettingsOnResume(command);
        await resumeTraining(options.resume, display.event);
      } else {
        const config = toConfig(options);
        if (options.out !== undefined && existsSync(join(options.out, 'run.json')))
          throw new HoneError(
            'run_exists',
            `${options.out} already holds a run`,
            `Continue it with --resume ${options.out}, or choose another folder.`,
          );
        await startTraining(
          config,
          options.out === undefined ? { parent: 'runs' } : { directory: options.out },
          display.event,
        );
      }
    } finally {
      display.close();
    }
  });
}
