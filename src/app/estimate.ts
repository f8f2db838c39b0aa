import type { Estimate } from '../core/events.js';
import { Stopwatch } from '../core/stopwatch.js';
import type { Group } from '../core/trajectory.js';
import { binary } from '../reward/index.js';
import { rollouts, type Session } from './session.js';

/** A probe much smaller than a step would miss what a full batch gains. */
const PROBE_PROGRAMS = 384;

/**
 * Times a small piece of each phase and extrapolates to the steps after `from`; draws from its own streams and changes
 * no weights. The first rollout only warms up: workers start and graphs compile once a run, not once a program.
 */
export async function estimate(session: Session, from: number): Promise<Estimate> {
  const { run, config, policy, source, emit } = session;
  emit({ type: 'progress', phase: 'probe', done: 0, total: 1, unit: 'probe' });
  const specs = Array.from(
    { length: Math.min(config.promptsPerStep, Math.ceil(PROBE_PROGRAMS / config.groupSize)) },
    (_, i) => ({
      task: source.taskAt(i),
      groupSize: config.groupSize,
      temperature: config.temperature,
    }),
  );
  const watch = new Stopwatch();
  const rollout = rollouts({ ...session, stopwatch: watch }, 'probe', false);
  const differing = async (groups: readonly Group[]): Promise<void> => {
    const rewards = binary();
    const surviving = groups.filter((g) => new Set(rewards(g).map((r) => (r === 'drop' ? r : r.value))).size > 1);
    await policy.score(
      surviving.flatMap((g) => g.trajectories),
      { temperature: config.temperature },
    );
  };
  await differing(await rollout(0, specs.slice(0, 2)));
  watch.lap();
  const groups = await rollout(1, specs);
  watch.enter('update');
  await differing(groups);
  watch.enter('end');
  const trajectories = groups.flatMap((g) => g.trajectories);
  const tokens = trajectories.reduce((n, t) => n + t.completionIds.length, 0);
  const cpuMs = trajectories.reduce((n, t) => n + (t.evidence.find((e) => e.kind === 'tests')?.cpuMs ?? 0), 0);
  const every = config.evaluateEvery || config.steps;
  const interim = Math.floor((config.steps - 1) / every) - Math.floor(from / every);
  const trained = (config.steps - from) * config.promptsPerStep * config.groupSize;
  const complete = run.metrics().some((line) => line.kind === 'evaluation' && line.step === 0) ? 1 : 2;
  const programs =
    trained + source.evaluation.length * (complete * config.evaluationSamples + interim * config.interimSamples);
  const perProgram = 1 / trajectories.length;
  // A backward pass costs about twice its forward pass, and scoring is one forward pass.
  const seconds =
    programs * perProgram * (watch.read('sample') + watch.read('verify')) +
    trained * perProgram * 3 * watch.read('update');
  return {
    steps: config.steps - from,
    minutes: seconds / 60,
    sampledTokens: Math.round(programs * perProgram * tokens),
    programs,
    sandboxSeconds: (programs * perProgram * cpuMs) / 1000,
  };
}
