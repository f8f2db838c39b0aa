import { resolve } from 'node:path';
import { HoneError } from '../core/error.js';
import { whileClaimed } from '../core/lock.js';
import type { EvaluationMetrics, StepMetrics, StepTiming } from '../core/metrics.js';
import type { Policy } from '../core/policy.js';
import { RUN_VERSION, RunDirectory } from '../core/run-directory.js';
import { Stopwatch } from '../core/stopwatch.js';
import { type StepOutcome, type TrainingParts, train } from '../core/train.js';
import type { Verifier } from '../core/verifier.js';
import { grpo, maskTruncated, uniform as uniformCredit } from '../credit/index.js';
import { uniform as uniformScheduler } from '../curriculum/index.js';
import { type Evaluation, evaluate } from '../eval/index.js';
import { clip, tokenMean } from '../loss/index.js';
import { eventFileHeader, scalarEvent, scalarsOf, stepMetrics } from '../monitor/index.js';
import { binary } from '../reward/index.js';
import { checkTrainConfig, learningRateOf, parseTrainConfig, type TrainConfig } from './config.js';
import { estimate } from './estimate.js';
import { machine, versions } from './provenance.js';
import { type Emit, rollouts, type Session, withPolicy } from './session.js';
import { solvedExamples } from './solved.js';
import { openTaskSource, referenceProblems, type TaskSource } from './task-source.js';

/** The main job's algorithm: binary reward, mean-only GRPO, clip 0.2/0.28, token mean, truncated trajectories masked. */
function parts(session: Session): TrainingParts {
  const { config, policy, source } = session;
  return {
    policy,
    scheduler: uniformScheduler(source.taskAt, { groupSize: config.groupSize, temperature: config.temperature }),
    rollout: rollouts(session, 'sample', true),
    reward: binary(),
    advantage: grpo({ std: false }),
    credit: maskTruncated(uniformCredit()),
    loss: clip({ clipLow: config.clipLow, clipHigh: config.clipHigh }),
    aggregation: tokenMean(),
    optimiser: (step) => ({
      learningRate: learningRateOf(step, config),
      beta1: 0.9,
      beta2: 0.95,
      epsilon: 1e-8,
      weightDecay: config.weightDecay,
      maxGradNorm: config.maxGradNorm,
    }),
    promptsPerStep: config.promptsPerStep,
    maxInfraShare: config.maxInfraShare,
  };
}

/** Evaluates the current weights on the held-out tasks; every evaluation of a run draws the same streams. */
async function evaluateNow(session: Session, step: number, samples: number): Promise<Evaluation> {
  const { config, source, emit } = session;
  return evaluate(rollouts(session, 'evaluate', false), source.evaluation, {
    split: source.split,
    step,
    samples,
    ks: [1, 8].filter((k) => k <= samples),
    temperature: config.temperature,
    seed: config.seed,
    batch: Math.max(1, Math.floor(256 / samples)),
    maxInfraShare: config.maxInfraShare,
    onProgress: (done, total) => emit({ type: 'progress', phase: 'evaluate', done, total, unit: 'tasks' }),
  });
}

function timing(
  step: number,
  laps: ReadonlyMap<string, number>,
  otherSeconds: number,
  metrics: StepMetrics,
): StepTiming {
  const at = (phase: string): number => laps.get(phase) ?? 0;
  return {
    step,
    sampleSeconds: at('sample'),
    verifySeconds: at('verify'),
    updateSeconds: at('update'),
    otherSeconds: at('other') + otherSeconds,
    tokensPerSecond: at('sample') > 0 ? metrics.sampledTokens / at('sample') : 0,
    programsPerSecond: at('verify') > 0 ? metrics.trajectories / at('verify') : 0,
  };
}

/** Seconds since 1970, for TensorBoard's time axis. */
const wallSeconds = (): number => (performance.timeOrigin + performance.now()) / 1000;

/** Writes metrics lines, durable before returning, and their curves for TensorBoard. */
function record(run: RunDirectory, lines: readonly (StepMetrics | EvaluationMetrics)[]): void {
  run.appendMetrics(lines);
  const now = wallSeconds();
  for (const line of lines) run.appendEvents(scalarEvent(now, line.step, scalarsOf(line)), eventFileHeader(now));
}

/** Evaluates the base, or reads what an interrupted run already knows of it. */
async function baseEvaluation(session: Session): Promise<Evaluation> {
  const { run, policy, config, emit } = session;
  const known = run.metrics().find((line): line is EvaluationMetrics => line.kind === 'evaluation' && line.step === 0);
  if (known) return { metrics: known, groups: run.readEvaluation(0) };
  const base = await evaluateNow(session, 0, config.evaluationSamples);
  run.writeEvaluation(0, base.groups);
  record(run, [base.metrics]);
  await run.saveCheckpoint(0, policy, null, config.keepCheckpoints);
  emit({ type: 'evaluation', metrics: base.metrics });
  warnOfFaults(session, 'evaluation before training', base.metrics.infraErrors);
  return base;
}

/** Tells of programs that were lost to the infrastructure; they are in no reward and in no pass rate. */
function warnOfFaults({ emit }: Session, where: string, share: number): void {
  if (share > 0)
    emit({
      type: 'warning',
      message: `${where}: ${(100 * share).toFixed(1)} % of the programs could not be judged and were left out`,
    });
}

/** What the steps to come will take at the pace of this session's steps, and the last evaluation at that of the first. */
function secondsLeft({ config, pace, source }: Session, step: number): number {
  const perStep = (performance.now() - pace.loopBegan) / 1000 / (step - pace.from);
  // A resumed run has not timed the first evaluation; sampling takes about half of a step.
  const programs = (source.evaluation.length * config.evaluationSamples) / (config.promptsPerStep * config.groupSize);
  const evaluation = pace.evaluationSeconds > 1 ? pace.evaluationSeconds : (perStep * programs) / 2;
  return perStep * (config.steps - step) + (step < config.steps ? evaluation : 0);
}

/** Writes a finished step with the evaluation that follows it, if one is due; durable when it returns. */
async function finishStep(
  session: Session,
  outcome: StepOutcome,
  schedulerState: unknown,
): Promise<Evaluation | undefined> {
  const { run, config, policy, emit, stopwatch } = session;
  const { step } = outcome;
  const metrics = stepMetrics(outcome);
  const laps = stopwatch.lap();
  const last = step === config.steps;
  const due = last || (config.evaluateEvery > 0 && step % config.evaluateEvery === 0);
  run.writeTrajectories(outcome);
  const evaluation = due
    ? await evaluateNow(session, step, last ? config.evaluationSamples : config.interimSamples)
    : undefined;
  if (last && evaluation) run.writeEvaluation(step, evaluation.groups);
  record(run, evaluation ? [metrics, evaluation.metrics] : [metrics]);
  if (last || step % config.checkpointEvery === 0)
    await run.saveCheckpoint(step, policy, schedulerState, config.keepCheckpoints);
  const other = [...stopwatch.lap().values()].reduce((a, b) => a + b, 0);
  const line = timing(step, laps, other, metrics);
  run.appendTiming(line);
  if (evaluation) emit({ type: 'evaluation', metrics: evaluation.metrics });
  emit({ type: 'step', metrics, timing: line, steps: config.steps, secondsLeft: secondsLeft(session, step) });
  warnOfFaults(session, `step ${step}`, metrics.infraErrors);
  if (evaluation) warnOfFaults(session, `evaluation after step ${step}`, evaluation.metrics.infraErrors);
  stopwatch.lap();
  return evaluation;
}

/** Runs the steps after `from`, each durable before the next begins, and closes with the comparison to the base. */
async function continueRun(session: Session, from: number, schedulerState: unknown): Promise<void> {
  const { run, config, emit, stopwatch } = session;
  if (from < config.steps) emit({ type: 'estimate', estimate: await estimate(session, from) });
  for (const line of run.metrics()) if (line.kind === 'evaluation') emit({ type: 'evaluation', metrics: line });
  const evaluationBegan = performance.now();
  const base = await baseEvaluation(session);
  Object.assign(session.pace, {
    from,
    evaluationSeconds: (performance.now() - evaluationBegan) / 1000,
    loopBegan: performance.now(),
  });
  const loop = parts(session);
  loop.scheduler.restore(schedulerState);
  let trained: Evaluation | undefined;
  stopwatch.lap();
  for await (const outcome of train(from + 1, config.steps, loop, stopwatch)) {
    stopwatch.enter('other');
    trained = await finishStep(session, outcome, loop.scheduler.state());
  }
  trained ??= { metrics: lastEvaluation(run, config.steps), groups: run.readEvaluation(config.steps) };
  const steps = run.metrics().filter((line) => line.kind === 'step');
  if (steps.every((line) => line.survivingGroups === 0))
    emit({
      type: 'warning',
      message:
        'no group held two different rewards, so nothing could be learnt: the tasks are too hard or too easy for this policy',
    });
  emit({
    type: 'summary',
    directory: run.path,
    checkpoint: run.checkpoint(config.steps),
    ...(config.tasks.kind === 'file' && { tasks: config.tasks.path }),
    base: base.metrics,
    trained: trained.metrics,
    solved: solvedExamples(base.groups, trained.groups, 3),
    seconds: session.secondsBefore + (performance.now() - session.began) / 1000,
    sampledTokens: steps.reduce((n, line) => n + line.sampledTokens, 0),
  });
}

function lastEvaluation(run: RunDirectory, step: number): EvaluationMetrics {
  const line = run.metrics().find((l): l is EvaluationMetrics => l.kind === 'evaluation' && l.step === step);
  if (!line)
    throw new HoneError('run_damaged', `${run.metricsFile} has no evaluation of step ${step}`, 'Start a new run.');
  return line;
}

/** Opens everything that a session of a run needs, has `from` chosen, and runs it to the end. */
async function runSession(
  run: RunDirectory,
  config: TrainConfig,
  opened: { readonly policy: Policy; readonly verifier: Verifier; readonly source: TaskSource },
  emit: Emit,
  from?: number,
): Promise<void> {
  try {
    const state = from === undefined ? undefined : run.checkpointState(from);
    if (from !== undefined) run.checkRecord(from);
    run.rewind(from ?? -1);
    const { policy, verifier, source } = opened;
    emit({
      type: 'start',
      directory: run.path,
      ...(from !== undefined && { resumedFrom: from }),
      policy: { directory: config.model, parameters: policy.capabilities.parameters },
      languages: source.languages,
    });
    const made = run.manifest.versions;
    const now = versions();
    const changed = Object.keys(now).filter((name) => made[name] !== now[name]);
    for (const name of changed)
      emit({
        type: 'warning',
        message: `the run began with ${name} ${made[name] ?? '(unknown)'}, this is ${now[name]}: its bits may differ from here on`,
      });
    const broken = await referenceProblems(source.own, verifier);
    const more = broken.length > 10 ? [`${broken.length - 10} more references do not pass their tests`] : [];
    for (const message of [...source.warnings, ...broken.slice(0, 10), ...more]) emit({ type: 'warning', message });
    await continueRun(
      {
        run,
        config,
        policy,
        verifier,
        source,
        emit,
        stopwatch: new Stopwatch((phase) => {
          if (phase === 'update') emit({ type: 'progress', phase, done: 0, total: 1, unit: 'step' });
        }),
        began: performance.now(),
        secondsBefore: run.secondsSpent(),
        pace: { from: 0, loopBegan: 0, evaluationSeconds: 0 },
      },
      from ?? 0,
      state?.scheduler ?? null,
    );
  } catch (error) {
    throw whereItStands(error, run);
  }
}

/** Adds to a failure where the run lies and what of it is safe. */
function whereItStands(error: unknown, run: RunDirectory): unknown {
  if (!(error instanceof HoneError)) return error;
  const last = run.checkpoints().at(-1);
  const safe =
    last === undefined ? 'no checkpoint was written yet' : `its last good checkpoint is ${run.checkpoint(last)}`;
  return new HoneError(
    error.code,
    error.message,
    `${error.hint} The run is in ${run.path}; ${safe}.`.trim(),
    error.exitCode,
  );
}

/** Where a new run goes: a folder that must hold no run yet, or the next free one under a parent. */
export type RunPlace = { readonly directory: string } | { readonly parent: string };

/**
 * Trains a policy in a new run folder and reports through `emit`.
 * Errors: `HoneError` from the settings, the model, the tasks, the sandbox, the disk or the optimiser; the folder is
 * made only once everything else is known to work, and what was written stays valid.
 */
export async function startTraining(settings: TrainConfig, place: RunPlace, emit: Emit): Promise<void> {
  const config = checkTrainConfig(settings);
  await withPolicy(config, async (policy, verifier) => {
    if (config.maxNewTokens >= policy.capabilities.contextLength)
      throw new HoneError(
        'bad_setting',
        `maxNewTokens: ${config.maxNewTokens} tokens do not fit the model's context of ${policy.capabilities.contextLength}`,
        'Lower --max-new-tokens.',
        2,
      );
    const source = openTaskSource(config, verifier.languages, policy);
    const manifest = { version: RUN_VERSION, config, versions: versions(), machine: machine(config) } as const;
    const run =
      'directory' in place
        ? RunDirectory.create(resolve(place.directory), manifest)
        : RunDirectory.createNext(resolve(place.parent), manifest);
    await whileClaimed(run.path, () => runSession(run, config, { policy, verifier, source }, emit));
  });
}

/** Continues a run folder from its newest checkpoint to the same bits as if it had never stopped. */
export async function resumeTraining(directory: string, emit: Emit): Promise<void> {
  const run = RunDirectory.open(resolve(directory));
  await whileClaimed(run.path, () => continueFolder(run, directory, emit));
}

async function continueFolder(run: RunDirectory, directory: string, emit: Emit): Promise<void> {
  const config = parseTrainConfig(run.manifest.config, `${directory}/run.json`);
  const from = run.checkpoints().at(-1);
  const model = from === undefined ? config.model : run.checkpoint(from);
  await withPolicy({ ...config, model }, async (policy, verifier) => {
    const source = openTaskSource(config, verifier.languages, policy);
    await runSession(run, config, { policy, verifier, source }, emit, from);
  });
}
