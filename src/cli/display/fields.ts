import type { StepMetrics, StepTiming } from '../../core/metrics.js';
import { count, duration, fixed, percent, shares, width } from './format.js';

/** What one line of a run shows. */
export interface StepRow {
  readonly metrics: StepMetrics;
  readonly timing: StepTiming;
  readonly steps: number;
  readonly secondsLeft: number;
  /** Held-out pass@1 after this step (0–1), where it was measured. */
  readonly passAt1?: number;
}

interface Field {
  readonly head: string;
  /** Lower stays longer when the terminal is narrow. */
  readonly rank: number;
  readonly value: (row: StepRow) => string;
  /** The value in a sentence. */
  readonly say: (value: string) => string;
}

const FIELDS: readonly Field[] = [
  { head: 'step', rank: 0, value: (r) => `${r.metrics.step}/${r.steps}`, say: (v) => `step ${v}` },
  { head: 'reward', rank: 1, value: (r) => fixed(r.metrics.reward, 3), say: (v) => `reward ${v}` },
  { head: 'pass', rank: 3, value: (r) => percent(r.metrics.passRate), say: (v) => `pass ${v}` },
  {
    head: 'pass@1',
    rank: 2,
    value: (r) => (r.passAt1 === undefined ? '' : percent(r.passAt1)),
    say: (v) => (v === '' ? '' : `pass@1 ${v}`),
  },
  { head: 'entropy', rank: 5, value: (r) => fixed(r.metrics.entropy, 2), say: (v) => `entropy ${v}` },
  { head: 'distinct', rank: 7, value: (r) => fixed(r.metrics.distinctSolutions, 1), say: (v) => `distinct ${v}` },
  {
    head: 'groups',
    rank: 6,
    value: (r) => `${r.metrics.survivingGroups}/${r.metrics.groups}`,
    say: (v) => `groups ${v}`,
  },
  { head: 'tok/s', rank: 8, value: (r) => count(r.timing.tokensPerSecond), say: (v) => `${v} tokens/s` },
  { head: 'prog/s', rank: 9, value: (r) => count(r.timing.programsPerSecond), say: (v) => `${v} programs/s` },
  {
    head: 's/v/u',
    rank: 10,
    value: (r) => shares([r.timing.sampleSeconds, r.timing.verifySeconds, r.timing.updateSeconds]),
    say: (v) => `sample/verify/update ${v}`,
  },
  {
    head: 'left',
    rank: 4,
    value: (r) => (r.secondsLeft > 0 ? duration(r.secondsLeft) : ''),
    say: (v) => (v === '' ? '' : `${v} left`),
  },
];

const GAP = 2;

/** One step as one line of words and numbers, without colours; the least important ones are left out beyond `columns`. */
export function stepLine(row: StepRow, columns = Number.POSITIVE_INFINITY): string {
  let parts = FIELDS.map((field) => ({ rank: field.rank, text: field.say(field.value(row)) })).filter(
    (part) => part.text !== '',
  );
  const length = (): number => parts.reduce((sum, part) => sum + width(part.text) + GAP, -GAP);
  while (length() > columns && parts.length > 1) parts = withoutLast(parts);
  return parts.map((part) => part.text).join(' '.repeat(GAP));
}

/** The head and one line per row; the least important columns are left out beyond `columns`. */
export function stepTable(rows: readonly StepRow[], columns: number): string[] {
  let shown = FIELDS.map((field) => {
    const cells = [field.head, ...rows.map(field.value)];
    return { rank: field.rank, cells, width: Math.max(...cells.map(width)) };
  });
  const total = (): number => shown.reduce((sum, column) => sum + column.width + GAP, -GAP);
  while (total() > columns && shown.length > 1) shown = withoutLast(shown);
  return Array.from({ length: rows.length + 1 }, (_, line) =>
    shown.map((column) => column.cells[line]!.padStart(column.width)).join(' '.repeat(GAP)),
  );
}

function withoutLast<T extends { readonly rank: number }>(items: readonly T[]): T[] {
  const last = Math.max(...items.map((item) => item.rank));
  return items.filter((item) => item.rank !== last);
}
