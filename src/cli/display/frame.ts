import type { Estimate, RunEvent } from '../../core/events.js';
import type { EvaluationMetrics } from '../../core/metrics.js';
import { type StepRow, stepTable } from './fields.js';
import { duration, printable, truncate, width } from './format.js';
import { createHistory, type History } from './history.js';
import { estimateLines, evaluationLine, progressLine, startLines } from './lines.js';
import type { Style } from './stream.js';

/** Step lines shown at once. */
const ROWS = 10;
const BAR = 24;
/** An empty line. Not '': log-update 7.2 misplaces the cursor after a changed stretch that ends in an empty line. */
const EMPTY = ' ';

/** What a live display has been told so far. */
export interface FrameState {
  readonly history: History;
  note(event: RunEvent): void;
  /** The lines to draw, none wider than `columns`. */
  lines(columns: number, style: Style): string[];
}

/** Collects events into one redrawable frame; `now` is seconds on any clock. */
export function createFrame(now: () => number): FrameState {
  const history = createHistory();
  let head: string[] = [];
  let rows: Extract<RunEvent, { type: 'step' }>[] = [];
  let phase: Extract<RunEvent, { type: 'progress' }> | undefined;
  let estimate: Estimate | undefined;
  let evaluation: EvaluationMetrics | undefined;
  /** When the run is expected to end. */
  let end: number | undefined;

  const withPassAt1 = (event: (typeof rows)[number]): StepRow => {
    const passAt1 = history.passAt1(event.metrics.step);
    return { ...event, ...(passAt1 === undefined ? {} : { passAt1 }) };
  };

  return {
    history,
    note(event) {
      switch (event.type) {
        case 'start':
          head = startLines(event).map(printable);
          break;
        case 'estimate':
          estimate = event.estimate;
          end = now() + event.estimate.minutes * 60;
          break;
        case 'progress':
          phase = event;
          break;
        case 'step':
          rows = [...rows, event].slice(-ROWS);
          phase = undefined;
          end = now() + event.secondsLeft;
          break;
        case 'evaluation':
          history.add(event.metrics);
          evaluation = event.metrics;
          phase = undefined;
          break;
        case 'summary':
          phase = undefined;
          end = undefined;
          break;
        case 'warning':
          break;
      }
    },
    lines(columns, style) {
      const cut = (line: string): string => truncate(line, columns);
      const [titles = '', ...steps] = rows.length === 0 ? [] : stepTable(rows.map(withPassAt1), columns);
      const seconds = (end ?? Number.NEGATIVE_INFINITY) - now();
      const left = seconds > 0 ? `${duration(seconds)} left` : '';
      return [
        ...[...head, ...(estimate ? estimateLines(estimate, columns) : [])].map(cut).map((line) => style.dim(line)),
        ...(rows.length === 0 ? [] : [EMPTY, style.bold(cut(titles)), ...steps.map(cut)]),
        EMPTY,
        ...(evaluation ? [evaluationLine(evaluation, columns)] : []),
        ...[history.line(columns), phaseLine(phase, left, columns)].filter((line) => line !== ''),
      ];
    },
  };
}

/** `sample   ━━━━━━────── 1.2k/4.1k tokens (30 %)   3m 05s left` */
function phaseLine(event: Extract<RunEvent, { type: 'progress' }> | undefined, left: string, columns: number): string {
  if (!event) return truncate(left, columns);
  const text = progressLine(event);
  const tail = left === '' ? '' : `  ${left}`;
  const room = columns - width(text) - width(tail) - 2;
  const share = event.total > 0 ? Math.min(1, event.done / event.total) : 0;
  const size = Math.min(BAR, room);
  const full = Math.round(share * size);
  const bar = size >= 8 ? `${'━'.repeat(full)}${'─'.repeat(size - full)}  ` : '';
  return truncate(`${bar}${text}${tail}`, columns);
}
