import type { Command } from 'commander';
import { DEFAULT_DIFFICULTY, DEFAULTS } from '../../app/config.js';
import { sampleTask } from '../../app/evaluation.js';
import { BASE_MODEL } from '../../app/package.js';
import { fileTasks } from '../../app/task-source.js';
import { HoneError } from '../../core/error.js';
import type { Evidence, TestsEvidence } from '../../core/evidence.js';
import { verdictOf } from '../../core/evidence.js';
import type { Task } from '../../core/task.js';
import { describedTask, taskAt } from '../../tasks/index.js';
import { printable } from '../display/format.js';
import { commonOptions, createCommand, examples, integer } from '../options.js';
import { difficultyRange, onBadLine, path, type SamplingOptions, samplingOptions } from './shared.js';

interface SampleOptions extends SamplingOptions {
  readonly model: string;
  readonly tasks?: string;
  readonly skipBadLines?: true;
  readonly id?: string;
  readonly index: number;
  readonly example: string[];
  readonly language: string;
  readonly difficulty: [number, number];
  readonly n: number;
  readonly seed: number;
  readonly threads: number;
  readonly json?: true;
}

/** The task that the command line names: described in words, one of a file, or a generated one. */
function chooseTask(description: string | undefined, options: SampleOptions): (languages: readonly string[]) => Task {
  return (languages) => {
    if (description !== undefined)
      return describedTask({ language: options.language, description, examples: options.example });
    if (options.tasks !== undefined) {
      const { tasks } = fileTasks(options.tasks, onBadLine(options.skipBadLines), languages);
      const task = options.id === undefined ? tasks[options.index] : tasks.find(({ id }) => id === options.id);
      if (task) return task;
      const wanted =
        options.id === undefined ? `task number ${options.index} (it has ${tasks.length})` : `task ${options.id}`;
      throw new HoneError('no_such_task', `${options.tasks} has no ${wanted}`, 'Give another --id or --index.');
    }
    const { language, difficulty, index } = options;
    return taskAt({ seed: options.seed, split: 'heldout', language, difficulty, index });
  };
}

const testsOf = (evidence: readonly Evidence[]): TestsEvidence | undefined =>
  evidence.find((e): e is TestsEvidence => e.kind === 'tests');

export function sampleCommand(): Command {
  const command = createCommand('sample', 'Give the policy a task; see its programs and their verdicts.')
    .argument('[description]', 'what the program must do, in words; judged by the --example pairs')
    .option(
      '--example <input -> output>',
      'an example of the described task, which takes one argument; JSON on both sides; repeat it',
      (text: string, all: string[]) => [...all, text],
      [],
    )
    .option('--model <dir>', 'checkpoint', path, BASE_MODEL)
    .option('--tasks <file>', 'take the task from this file', path)
    .option('--skip-bad-lines', 'skip broken lines of the task file')
    .option('--id <id>', 'id of the task in the file')
    .option('--index <n>', 'number of the generated held-out task, or of the task in the file', integer({ min: 0 }), 0)
    .option('--language <name>', 'language of the program', 'javascript')
    .option('--difficulty <range>', 'composed operations of the generated task', difficultyRange, [
      ...DEFAULT_DIFFICULTY,
    ])
    .option('-n, --n <n>', 'programs to sample', integer({ min: 1, max: 4096 }), 4);
  samplingOptions(command);
  commonOptions(command, { seed: DEFAULTS.seed });
  examples(
    command,
    [
      "hone sample 'Keep the even numbers, then return their sum.' --example '[1, 2, 4] -> 6' --example '[] -> 0'",
      'a task of your own',
    ],
    ['hone sample --index 3 -n 8', 'a generated held-out task'],
    ['hone sample --tasks my-tasks.jsonl --id clamp --model runs/train-1/checkpoints/step-85', 'a task of a file'],
  );
  return command.action(async (description: string | undefined, options: SampleOptions) => {
    const group = await sampleTask(options, chooseTask(description, options), options.n);
    if (options.json) {
      process.stdout.write(`${JSON.stringify({ task: group.task, trajectories: group.trajectories })}\n`);
      return;
    }
    const passed = group.trajectories.filter((t) => verdictOf(t.evidence) === 'accepted').length;
    const lines = [
      `${group.task.id}: ${passed} of ${group.trajectories.length} programs accepted`,
      '',
      group.task.prompt.trimEnd(),
    ];
    group.trajectories.forEach((t, i) => {
      const tests = testsOf(t.evidence);
      const score = tests
        ? tests.verdict === 'accepted'
          ? `, all ${tests.total} tests`
          : `, ${tests.passed} of ${tests.total} tests before it failed`
        : '';
      const why = tests?.message ? `: ${tests.message}` : '';
      lines.push('', `--- program ${i + 1}: ${verdictOf(t.evidence)}${score}${why}`, t.text);
    });
    process.stdout.write(`${printable(lines.join('\n'))}\n`);
  });
}
