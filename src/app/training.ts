import { availableParallelism, cpus, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { HoneError } from '../core/error.js';
import type { Estimate, RunEvent, SolvedExample } from '../core/events.js';
import { verdictOf } from '../core/evidence.js';
import type { EvaluationMetrics, StepMetrics, StepTiming } from '../core/metrics.js';
import type { Policy } from '../core/policy.js';
import type { RolloutProtocol } from '../core/recipe.js';
import { RUN_VERSION, RunDirectory } from '../core/run-directory.js';
import { Stopwatch } from '../core/stopwatch.js';
import { type TrainingParts, trainStep } from '../core/train.js';
import type { Group } from '../core/trajectory.js';
import type { Verifier } from '../core/verifier.js';
import { grpo, maskTruncated, uniform as uniformCredit } from '../credit/index.js';
import { uniform as uniformScheduler } from '../curriculum/index.js';
import { evaluate } from '../eval/index.js';
import { clip, tokenMean } from '../loss/index.js';
import { eventFileHeader, scalarEvent, scalarsOf, stepMetrics } from '../monitor/index.js';
import { binary } from '../reward/index.js';
import { singleTurn } from '../rollout/index.js';
import { parseTrainConfig, type TrainConfig } from './config.js';
import { VERSION } from './package.js';
import { withPolicy } from './session.js';
import { openTaskSource, type TaskSource } from './task-source.js';

type Emit = (event: RunEvent) => void;

/** An opened run: the live parts that a session needs. */
interface Session {
  readonly run: RunDirectory;
  readonly config: TrainConfig;
  readonly policy: Policy;
  readonly verifier: Verifier;
  readonly source: TaskSource;
  readonly emit: Emit;
  readonly stopwatch: Stopwatch;
}

function machine(config: TrainConfig): { [fact: string]: string | number } {
  return {
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    threads: config.threads,
  };
}

/** Rollouts of this session on a named random stream; the stopwatch learns when sampling ends and verifying begins. */
function rollouts(session: Session, stream: string, report: boolean): RolloutProtocol {
  const { policy, verifier, config, stopwatch, emit } = session;
  const rollout = singleTurn(policy, verifier, {
    seed: config.seed,
    stream,
    maxNewTokens: config.maxNewTokens,
    onPhase: (phase) => stopwatch.enter(phase),
    ...(report && {
      onProgress: ({ phase, done, total }) =>
        emit({ type: 'progress', phase, done, total, unit: phase === 'sample' ? 'tokens' : 'programs' }),
    }),
  });
  return rollout;
}

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
      learningRate: config.learningRate * Math.min(1, step / Math.max(1, config.warmupSteps)),
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
async function evaluateNow(
  session: Session,
  step: number,
  samples: number,
): Promise<{ metrics: EvaluationMetrics; groups: readonly Group[] }> {
  const { config, source, emit } = session;
  return evaluate(rollouts(session, 'evaluate', false), source.evaluation, {
    split: source.split,
    step,
    samples,
    ks: [1, 8].filter((k) => k <= samples),
    temperature: config.temperature,
    seed: config.seed,
    batch: Math.max(1, Math.floor(256 / samples)),
    onProgress: (done, total) => emit({ type: 'progress', phase: 'evaluate', done, total, unit: 'tasks' }),
  });
}

/** Times a small piece of each phase and extrapolates; draws from its own stream and changes no weights. */
async function estimate(session: Session): Promise<Estimate> {
  const { config, policy, source, emit } = session;
  emit({ type: 'progress', phase: 'probe', done: 0, total: 1, unit: 'probe' });
  const prompts = Math.min(config.promptsPerStep, 16);
  const specs = Array.from({ length: prompts }, (_, i) => ({
    task: source.taskAt(i),
    groupSize: config.groupSize,
    temperature: config.temperature,
  }));
  const watch = new Stopwatch();
  const probe: Session = { ...session, stopwatch: watch };
  watch.enter('sample');
  const groups = await rollouts(probe, 'probe', false)(0, specs);
  watch.enter('update');
  const rewards = binary();
  const surviving = groups.filter((g) => new Set(rewards(g).map((r) => (r === 'drop' ? r : r.value))).size > 1);
  await policy.score(surviving.flatMap((g) => g.trajectories));
  watch.enter('end');
  const trajectories = groups.flatMap((g) => g.trajectories);
  const tokens = trajectories.reduce((n, t) => n + t.completionIds.length, 0);
  const interim = config.evaluateEvery > 0 ? Math.floor((config.steps - 1) / config.evaluateEvery) : 0;
  const trained = config.steps * config.promptsPerStep * config.groupSize;
  const programs =
    trained + source.evaluation.length * (2 * config.evaluationSamples + interim * config.interimSamples);
  const perProgram = 1 / trajectories.length;
  // A backward pass costs about twice its forward pass, and scoring is one forward pass.
  const seconds =
    programs * perProgram * (watch.read('sample') + watch.read('verify')) +
    trained * perProgram * 3 * watch.read('update');
  return {
    steps: config.steps,
    minutes: seconds / 60,
    sampledTokens: Math.round(programs * perProgram * tokens),
    programs,
    sandboxSeconds: programs * perProgram * watch.read('verify'),
  };
}

const accepted = (group: Group): number =>
  group.trajectories.filter((t) => verdictOf(t.evidence) === 'accepted').length;

/** Tasks that the base policy failed in every sample (or most often) and the trained policy solves, clearest first. */
export function solvedExamples(base: readonly Group[], trained: readonly Group[], count: number): SolvedExample[] {
  return trained
    .map((after, i) => ({ before: base[i] as Group, after }))
    .filter(({ before, after }) => accepted(after) > 0 && accepted(before) < accepted(after))
    .sort((x, y) => accepted(x.before) - accepted(y.before) || accepted(y.after) - accepted(x.after))
    .flatMap(({ before, after }) => {
      const failed = before.trajectories.find((t) => verdictOf(t.evidence) !== 'accepted');
      const solved = after.trajectories.find((t) => verdictOf(t.evidence) === 'accepted');
      if (!failed || !solved) return [];
      return [
        {
          taskId: after.task.id,
          prompt: after.task.prompt,
          before: failed.text,
          beforeVerdict: verdictOf(failed.evidence),
          after: solved.text,
        },
      ];
    })
    .slice(0, count);
}

function timing(step: number, laps: ReadonlyMap<string, number>, tokens: number, programs: number): StepTiming {
  const at = (phase: string): number => laps.get(phase) ?? 0;
  return {
    step,
    sampleSeconds: at('sample'),
    verifySeconds: at('verify'),
    updateSeconds: at('update'),
    otherSeconds: at('other'),
    tokensPerSecond: at('sample') > 0 ? tokens / at('sample') : 0,
    programsPerSecond: at('verify') > 0 ? programs / at('verify') : 0,
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
async function baseEvaluation(session: Session): Promise<{ metrics: EvaluationMetrics; groups: readonly Group[] }> {
  const { run, policy, config, emit } = session;
  const known = run.metrics().find((line): line is EvaluationMetrics => line.kind === 'evaluation' && line.step === 0);
  if (known) return { metrics: known, groups: run.readEvaluation(0) };
  const base = await evaluateNow(session, 0, config.evaluationSamples);
  run.writeEvaluation(0, base.groups);
  record(run, [base.metrics]);
  await run.saveCheckpoint(0, policy, null, config.keepCheckpoints);
  emit({ type: 'evaluation', metrics: base.metrics });
  return base;
}

/** Runs the steps after `from`, each durable before the next begins, and closes with the comparison to the base. */
async function continueRun(session: Session, from: number, schedulerState: unknown): Promise<void> {
  const { run, config, policy, emit, stopwatch } = session;
  const began = performance.now();
  if (from === 0) emit({ type: 'estimate', estimate: await estimate(session) });
  const base = await baseEvaluation(session);
  const loop = parts(session);
  loop.scheduler.restore(schedulerState);
  let trained = base;
  const stepsBegan = performance.now();
  stopwatch.lap();
  for (let step = from + 1; step <= config.steps; step++) {
    const outcome = await trainStep(step, loop, stopwatch);
    stopwatch.enter('other');
    const metrics = stepMetrics(outcome);
    run.writeTrajectories(step, outcome.groups);
    const last = step === config.steps;
    const due = last || (config.evaluateEvery > 0 && step % config.evaluateEvery === 0);
    const stepLaps = stopwatch.lap();
    if (due) trained = await evaluateNow(session, step, last ? config.evaluationSamples : config.interimSamples);
    stopwatch.enter('other');
    if (last) run.writeEvaluation(step, trained.groups);
    record(run, due ? [metrics, trained.metrics] : [metrics]);
    if (last || step % config.checkpointEvery === 0)
      await run.saveCheckpoint(step, policy, loop.scheduler.state(), config.keepCheckpoints);
    const after = stopwatch.lap();
    const other = (stepLaps.get('other') ?? 0) + [...after.values()].reduce((a, b) => a + b, 0);
    const line = timing(step, new Map(stepLaps).set('other', other), metrics.sampledTokens, metrics.trajectories);
    run.appendTiming(line);
    const perStep = (performance.now() - stepsBegan) / 1000 / (step - from);
    emit({ type: 'step', metrics, timing: line, steps: config.steps, secondsLeft: perStep * (config.steps - step) });
    if (due) emit({ type: 'evaluation', metrics: trained.metrics });
  }
  if (from === config.steps)
    trained = { metrics: lastEvaluation(run, config.steps), groups: run.readEvaluation(config.steps) };
  emit({
    type: 'summary',
    directory: run.path,
    checkpoint: run.checkpoint(config.steps),
    base: base.metrics,
    trained: trained.metrics,
    solved: solvedExamples(base.groups, trained.groups, 3),
    seconds: (performance.now() - began) / 1000,
    sampledTokens: run.metrics().reduce((n, line) => n + (line.kind === 'step' ? line.sampledTokens : 0), 0),
  });
}

function lastEvaluation(run: RunDirectory, step: number): EvaluationMetrics {
  const line = run.metrics().find((l): l is EvaluationMetrics => l.kind === 'evaluation' && l.step === step);
  if (!line)
    throw new HoneError('run_damaged', `${run.metricsFile} has no evaluation of step ${step}`, 'Start a new run.');
  return line;
}

/**
 * Trains a policy in a new run folder and reports through `emit`.
 * Errors: `HoneError` from the model, the tasks, the sandbox, the disk or the optimiser; what was written stays valid.
 */
export async function startTraining(config: TrainConfig, directory: string, emit: Emit): Promise<void> {
  await withPolicy(config, async (policy, verifier) => {
    const source = openTaskSource(config, verifier.languages);
    const run = RunDirectory.create(resolve(directory), {
      version: RUN_VERSION,
      hone: VERSION,
      config,
      machine: machine(config),
    });
    announce(run, config, policy, verifier, source, emit);
    await continueRun({ run, config, policy, verifier, source, emit, stopwatch: new Stopwatch() }, 0, null);
  });
}

/** Continues a run folder from its newest checkpoint to the same bits as if it had never stopped. */
export async function resumeTraining(directory: string, emit: Emit): Promise<void> {
  const run = RunDirectory.open(resolve(directory));
  const config = parseTrainConfig(run.manifest.config, `${directory}/run.json`);
  const from = run.checkpoints().at(-1);
  run.rewind(from ?? -1);
  const state = from === undefined ? undefined : run.checkpointState(from);
  const model = from === undefined ? config.model : run.checkpoint(from);
  await withPolicy({ ...config, model }, async (policy, verifier) => {
    const source = openTaskSource(config, verifier.languages);
    announce(run, config, policy, verifier, source, emit, from);
    await continueRun(
      { run, config, policy, verifier, source, emit, stopwatch: new Stopwatch() },
      from ?? 0,
      state?.scheduler ?? null,
    );
  });
}

function announce(
  run: RunDirectory,
  config: TrainConfig,
  policy: Policy,
  verifier: Verifier,
  source: TaskSource,
  emit: Emit,
  resumedFrom?: number,
): void {
  emit({
    type: 'start',
    directory: run.path,
    ...(resumedFrom !== undefined && { resumedFrom }),
    policy: { directory: config.model, parameters: policy.capabilities.parameters },
    languages: config.tasks.kind === 'synth' ? config.tasks.languages : verifier.languages,
  });
  for (const message of source.warnings) emit({ type: 'warning', message });
}
