import type { Estimate, RunEvent, SolvedExample } from '../../core/events.js';
import type { EvaluationMetrics, Interval } from '../../core/metrics.js';
import { count, duration, percent, points, printable, shellQuote, shortPath, truncate, width, wrap } from './format.js';
import { table } from './table.js';

type Event<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** Lines of a program shown before the rest is cut. */
const PROGRAM_LINES = 24;

/** What is about to be trained, on what, and where it is recorded. */
export function startLines(event: Event<'start'>): string[] {
  const { policy, languages, directory, resumedFrom } = event;
  return [
    `policy ${shortPath(policy.directory)} (${count(policy.parameters)} parameters), programs in ${languages.join(', ')}`,
    `run    ${shortPath(directory)}${resumedFrom === undefined ? '' : `, resumed after step ${resumedFrom}`}`,
  ];
}

/** What the run will cost; two lines where one would be wider than `columns`. */
export function estimateLines(estimate: Estimate, columns = Number.POSITIVE_INFINITY): string[] {
  const { steps, minutes, sampledTokens, programs, sandboxSeconds } = estimate;
  const time = `cost   about ${duration(minutes * 60)}: ${steps} steps, `;
  const work = `${count(sampledTokens)} tokens, ${count(programs)} programs, ${duration(sandboxSeconds)} of sandbox time`;
  return width(time + work) <= columns ? [time + work] : [time.trimEnd(), `       ${work}`];
}

/** `evaluate 120/320 programs (38 %)` */
export function progressLine(event: Event<'progress'>): string {
  const share = event.total > 0 ? ` (${Math.round((event.done / event.total) * 100)} %)` : '';
  return `${event.phase} ${count(event.done)}/${count(event.total)} ${event.unit}${share}`;
}

/** An evaluation as one line; a shorter one where it would be wider than `columns`. */
export function evaluationLine(metrics: EvaluationMetrics, columns = Number.POSITIVE_INFINITY): string {
  const when = metrics.step === 0 ? 'before training' : `after step ${metrics.step}`;
  const values = (show: (estimate: Interval) => string): string =>
    Object.entries(metrics.passAt)
      .map(([k, estimate]) => `pass@${k} ${show(estimate)}`)
      .join('  ');
  const where = `(${metrics.split}: ${metrics.tasks} tasks, ${metrics.samples} samples each)`;
  const full = `evaluation ${when}  ${values(interval)}  ${where}${faults(metrics)}`;
  return width(full) <= columns ? full : truncate(`${when}  ${values(shortInterval)}`, columns);
}

const faults = (metrics: EvaluationMetrics): string =>
  metrics.infraErrors > 0
    ? `  ${percent(metrics.infraErrors)} of the programs could not be judged and were left out`
    : '';

/** Everything printed when a run has ended: base against trained, solved examples, where it lies, how to go on. */
export function summaryLines(
  event: Event<'summary'>,
  options: { readonly columns: number; readonly sparkline: string; readonly command: string },
): string[] {
  const { base, trained, solved } = event;
  const { columns, command } = options;
  const checkpoint = shellQuote(shortPath(event.checkpoint));
  return [
    '',
    truncate(
      `Trained ${trained.step} steps in ${duration(event.seconds)}, ${count(event.sampledTokens)} tokens sampled while training.`,
      columns,
    ),
    ...(options.sparkline === '' ? [] : [options.sparkline]),
    '',
    truncate(
      `${trained.tasks} ${trained.tasks === 1 ? 'task' : 'tasks'} (${trained.split}), ${trained.samples} samples each, 95 % intervals`,
      columns,
    ),
    '',
    ...comparison(base, trained, columns),
    ...[base, trained]
      .filter((metrics) => metrics.infraErrors > 0)
      .map((metrics) => `step ${metrics.step}:${faults(metrics)}`),
    ...(solved.length === 0
      ? ['', truncate('No task that the base policy failed in every sample was solved.', columns)]
      : solved.slice(0, 3).flatMap((example, i) => exampleLines(example, i + 1, Math.min(3, solved.length), columns))),
    '',
    `Run folder  ${shortPath(event.directory)}`,
    `Weights     ${shortPath(event.checkpoint)}`,
    '',
    'Go on from here:',
    `  ${command} sample --model ${checkpoint}`,
    `  ${command} eval --model ${checkpoint}${event.tasks === undefined ? '' : ` --tasks ${shellQuote(shortPath(event.tasks))}`}`,
  ];
}

/** The table of base against trained; differences in percentage points. Narrow terminals lose digits, then intervals. */
export function comparison(base: EvaluationMetrics, trained: EvaluationMetrics, columns: number): string[] {
  const ks = Object.keys(trained.passAt).filter((k) => base.passAt[k]);
  const layouts = [interval, shortInterval, ({ value }: Interval) => percent(value)].map((cell) => {
    const rows = ks.map((k) => {
      const [before, after] = [base.passAt[k]!, trained.passAt[k]!];
      return [`pass@${k}`, cell(before), cell(after), points(after.value - before.value)];
    });
    return (limit?: number) =>
      table(['', 'base', 'trained', 'points'], rows, limit === undefined ? {} : { columns: limit });
  });
  const fitting = layouts.find((layout) => layout().every((line) => width(line) <= columns));
  return (fitting ?? layouts.at(-1)!)(columns);
}

function exampleLines(example: SolvedExample, number: number, of: number, columns: number): string[] {
  return [
    '',
    truncate(`Solved ${number} of ${of}: ${printable(example.taskId)}`, columns),
    ...block('the task', example.prompt, columns),
    ...block(`the base policy: ${example.beforeVerdict}`, example.before, columns),
    ...block('the trained policy: accepted', example.after, columns),
  ];
}

/** A titled, indented text of the policy's or the task's, which may hold anything. */
function block(title: string, text: string, columns: number): string[] {
  const lines = printable(text)
    .replace(/^\n+|\s+$/g, '')
    .split('\n');
  const shown = lines.length > PROGRAM_LINES ? lines.slice(0, PROGRAM_LINES - 1) : lines;
  const more = lines.length > shown.length ? [`… ${lines.length - shown.length} more lines`] : [];
  return [
    `  ${title}`,
    ...[...shown, ...more].flatMap((line) => wrap(line, columns - 4)).map((line) => `  │ ${line}`.trimEnd()),
  ];
}

/** An estimate with its interval: `34.5 % [30.1, 38.9]`. */
export function interval({ value, low, high }: Interval): string {
  return `${percent(value)} [${(low * 100).toFixed(1)}, ${(high * 100).toFixed(1)}]`;
}

/** `34.5 [30, 39]`: the same in per cent without saying so. */
function shortInterval({ value, low, high }: Interval): string {
  return `${(value * 100).toFixed(1)} [${Math.round(low * 100)}, ${Math.round(high * 100)}]`;
}
