import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { HoneError } from '../core/error.js';
import { verdictOf } from '../core/evidence.js';
import { readError } from '../core/io.js';
import type { Policy } from '../core/policy.js';
import { stream } from '../core/seeds.js';
import type { Task } from '../core/task.js';
import type { Verifier } from '../core/verifier.js';
import { shuffled } from '../curriculum/index.js';
import { readTaskFile, synthTasks, type TaskFile, taskAt } from '../tasks/index.js';
import type { TaskSourceConfig, TrainConfig } from './config.js';

/** The tasks of a run: an endless indexed supply to train on, and a fixed set to evaluate on. */
export interface TaskSource {
  readonly taskAt: (index: number) => Task;
  readonly evaluation: readonly Task[];
  readonly languages: readonly string[];
  /** Name of the evaluation set as metrics and tables show it. */
  readonly split: string;
  /** The tasks of a person's own file; empty for generated ones, whose references are known to pass. */
  readonly own: readonly Task[];
  readonly warnings: readonly string[];
}

/** SHA-256 of a file's bytes, hex. */
export function fileHash(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch (error) {
    throw readError(error, path);
  }
}

function synthSource(
  config: Extract<TaskSourceConfig, { kind: 'synth' }>,
  run: TrainConfig,
  judged: readonly string[],
): TaskSource {
  const { difficulty } = config;
  const languages = [...new Set(config.languages)];
  for (const language of languages) refuseUnjudged(language, judged, 'the generated tasks are');
  const languageOf = (index: number): string => languages[index % languages.length] as string;
  const perLanguage = Math.ceil(run.evaluationTasks / languages.length);
  const evaluation = languages.flatMap((language) =>
    // The evaluation set is the same for every seed: runs differ in training, not in what they are measured on.
    synthTasks({ seed: 0, split: config.evaluate, language, difficulty, count: perLanguage }),
  );
  return {
    taskAt: (index) => taskAt({ seed: run.seed, split: 'train', language: languageOf(index), difficulty, index }),
    evaluation: evaluation.slice(0, run.evaluationTasks),
    split: config.evaluate,
    languages,
    own: [],
    warnings: [],
  };
}

/** Errors: `language_unavailable`. `what` begins the message: `task 3 is`. */
export function refuseUnjudged(language: string, judged: readonly string[], what: string): void {
  if (judged.includes(language)) return;
  throw new HoneError(
    'language_unavailable',
    `${what} in ${language}, which can't be judged here (can: ${judged.join(', ')})`,
    '`hone doctor` shows which languages can be judged.',
  );
}

/** The tasks of a file, all of them in languages that can be judged here. Errors name the file and the task. */
export function fileTasks(path: string, onBadLine: 'refuse' | 'skip', judged: readonly string[]): TaskFile {
  const file = readTaskFile(path, { onBadLine });
  for (const task of file.tasks) refuseUnjudged(task.language, judged, `${path}: task ${task.id} is`);
  return file;
}

/** A prompt must leave room for a completion. Errors: `prompt_too_long` naming the task. */
export function refuseLongPrompts(path: string, tasks: readonly Task[], policy: Policy): void {
  for (const task of tasks) {
    const length = policy.tokenizer.encode(task.prompt, { addSpecialTokens: true }).length;
    if (length >= policy.capabilities.contextLength)
      throw new HoneError(
        'prompt_too_long',
        `${path}: the prompt of task ${task.id} has ${length} tokens, the model's context is ${policy.capabilities.contextLength}`,
        'Remove or shorten the task, or use a model with a longer context.',
      );
  }
}

function fileSource(
  config: Extract<TaskSourceConfig, { kind: 'file' }>,
  run: TrainConfig,
  judged: readonly string[],
  policy: Policy,
): TaskSource {
  if (fileHash(config.path) !== config.sha256)
    throw new HoneError(
      'tasks_changed',
      `${config.path} is not the file that this run began with`,
      'Restore it, or start a new run.',
    );
  const { tasks, problems } = fileTasks(config.path, config.onBadLine, judged);
  refuseLongPrompts(config.path, tasks, policy);
  const order = stream(run.seed, 'holdout').shuffle(tasks);
  const heldOut = Math.min(run.evaluationTasks, Math.round(tasks.length * config.holdout));
  const evaluation = heldOut === 0 ? tasks.slice(0, run.evaluationTasks) : order.slice(0, heldOut);
  const training = heldOut === 0 ? tasks : tasks.filter((task) => !evaluation.includes(task));
  if (training.length === 0)
    throw new HoneError(
      'no_tasks',
      `${config.path}: nothing is left to train on after holding out ${heldOut} tasks`,
      'Lower --holdout.',
    );
  const warnings = [
    ...problems.slice(0, 10).map((problem) => `skipped ${problem}`),
    ...(problems.length > 10 ? [`skipped ${problems.length - 10} more broken lines`] : []),
    ...(heldOut > 0 && heldOut < 20
      ? [`only ${heldOut} of ${tasks.length} tasks are held out: expect wide intervals below`]
      : []),
    ...(heldOut === 0 ? ['no task is held out: the pass rates below are measured on training tasks'] : []),
  ];
  return {
    taskAt: shuffled(training, run.seed),
    evaluation,
    own: tasks,
    languages: [...new Set(tasks.map((task) => task.language))],
    split: heldOut === 0 ? 'training' : 'heldout',
    warnings,
  };
}

/** Runs every reference against its own tests; a line for each that fails them, as its tests then judge nothing. */
export async function referenceProblems(tasks: readonly Task[], verifier: Verifier): Promise<string[]> {
  const problems = await Promise.all(
    tasks.map(async (task) => {
      if (task.reference === undefined) return [];
      const verdict = verdictOf(await verifier.verify(task, task.reference));
      return verdict === 'accepted' ? [] : [`task ${task.id}: its own reference does not pass its tests (${verdict})`];
    }),
  );
  return problems.flat();
}

/** Opens the tasks of a run. `judged`: languages that the verifier can run now. Errors name the file and the task. */
export function openTaskSource(run: TrainConfig, judged: readonly string[], policy: Policy): TaskSource {
  return run.tasks.kind === 'synth' ? synthSource(run.tasks, run, judged) : fileSource(run.tasks, run, judged, policy);
}
