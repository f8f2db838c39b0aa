import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { PRETRAIN_DEFAULTS as D, type PretrainEvent } from '../../app/pretrain-config.js';
import { pretrain } from '../../app/pretraining.js';
import { duration } from '../display/format.js';
import { createProgress } from '../display/index.js';
import { onInterruptSay } from '../interrupt.js';
import { commonOptions, createCommand, examples, float, integer, list } from '../options.js';
import { path } from './shared.js';

interface PretrainOptions extends Omit<typeof D, 'languages' | 'weightsFrom' | 'weightsTo' | 'rampShare'> {
  readonly out: string;
  readonly languages: readonly string[];
  readonly workers: number;
  readonly threads: number;
  readonly json?: true;
}

/** Shows a pretraining run: a progress line, a line per 250 steps, the evaluations. */
function show(): (event: PretrainEvent) => void {
  const progress = createProgress({ stream: process.stdout, label: 'pretrain', unit: 'steps' });
  const measuring = createProgress({ stream: process.stdout, label: 'measure', unit: 'tasks' });
  const line = (text: string): void => void process.stdout.write(`${text}\n`);
  return (event) => {
    switch (event.type) {
      case 'start':
        line(`pretraining ${event.parameters.toLocaleString('en-US')} parameters into ${event.directory}`);
        if (event.resumedFrom !== undefined) line(`continuing from step ${event.resumedFrom}`);
        break;
      case 'step':
        progress.update(event.step, event.steps);
        if (event.step % 250 === 0) {
          progress.close();
          line(
            `step ${event.step}/${event.steps}  loss ${event.loss.toFixed(4)}  ${Math.round(event.tokensPerSecond)} tokens/s`,
          );
        }
        break;
      case 'evaluation':
        progress.close();
        line(
          `step ${event.step}  validation pass@1 ${(100 * event.passAt1).toFixed(1)} %  pass@8 ${(100 * event.passAt8).toFixed(1)} %`,
        );
        break;
      case 'measure':
        progress.close();
        measuring.update(event.done, event.total);
        break;
      case 'done':
        measuring.close();
        line(`done in ${duration(event.seconds)}; the model and its card are in ${event.directory}`);
        break;
    }
  };
}

export function pretrainCommand(): Command {
  const command = createCommand(
    'pretrain',
    'Train a base policy from nothing on generated (description, program) pairs; half an hour on two cores.',
  )
    .option('--out <dir>', 'folder of the model; an interrupted run continues there', path, join('runs', 'base'))
    .option('--steps <n>', 'optimiser steps', integer({ min: 1 }), D.steps)
    .option('--batch-size <n>', 'sequences a step', integer({ min: 1 }), D.batchSize)
    .option('--learning-rate <x>', 'peak learning rate', float({ min: 0 }), D.learningRate)
    .option('--warmup-steps <n>', 'steps of linear warm-up', integer({ min: 0 }), D.warmupSteps)
    .option('--weight-decay <x>', 'decoupled weight decay', float({ min: 0 }), D.weightDecay)
    .option(
      '--error-rate <share>',
      'share of programs with a realistic mistake',
      float({ min: 0, max: 1 }),
      D.errorRate,
    )
    .option('--languages <list>', 'languages of the programs', list, D.languages)
    .option('--vocab-size <n>', 'tokens in the vocabulary', integer({ min: 300 }), D.vocabSize)
    .option(
      '--tokenizer-examples <n>',
      'examples that the tokenizer is learnt from',
      integer({ min: 1 }),
      D.tokenizerExamples,
    )
    .option('--hidden-size <n>', 'width', integer({ min: 8 }), D.hiddenSize)
    .option('--layers <n>', 'depth', integer({ min: 1 }), D.layers)
    .option('--heads <n>', 'attention heads', integer({ min: 1 }), D.heads)
    .option('--intermediate-size <n>', 'width of the feed-forward layers', integer({ min: 8 }), D.intermediateSize)
    .option('--context-length <n>', 'longest sequence', integer({ min: 32 }), D.contextLength)
    .option('--checkpoint-every <n>', 'steps between checkpoints', integer({ min: 1 }), D.checkpointEvery)
    .option('--evaluate-every <n>', 'steps between evaluations', integer({ min: 1 }), D.evaluateEvery)
    .option('--card-tasks <n>', 'held-out tasks in each row of the card', integer({ min: 1 }), D.cardTasks)
    .option('--card-samples <n>', 'completions a task for the card', integer({ min: 64 }), D.cardSamples)
    .option('--workers <n>', 'sandbox workers', integer({ min: 1, max: 256 }), availableParallelism());
  commonOptions(command, { seed: D.seed });
  examples(
    command,
    ['hone pretrain --out models/base', 'make the shipped base policy again, from nothing'],
    ['hone pretrain --out runs/tiny --layers 2 --steps 200', 'a smaller one, in a minute'],
  );
  return command.action(async ({ out, json, ...config }: PretrainOptions) => {
    const emit = json ? (event: PretrainEvent) => void process.stdout.write(`${JSON.stringify(event)}\n`) : show();
    onInterruptSay('the same command continues it');
    await pretrain({ ...D, ...config, languages: [...config.languages] }, out, emit);
  });
}
