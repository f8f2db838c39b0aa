import type { RunEvent } from '../../core/events.js';
import { stepLine } from './fields.js';
import { printable } from './format.js';
import { createHistory } from './history.js';
import { estimateLines, evaluationLine, progressLine, startLines, summaryLines } from './lines.js';

/** Seconds of silence after which a progress line is printed. */
const SILENCE = 10;

/** Lines for a pipe, a log file or a dumb terminal: one per event, no control sequences, nothing redrawn. */
export function plainRenderer(
  write: (line: string) => void,
  options: { readonly columns?: number; readonly command: string; readonly now: () => number },
): (event: RunEvent) => void {
  const history = createHistory();
  const columns = options.columns ?? Number.POSITIVE_INFINITY;
  let last = options.now();
  const print = (...lines: readonly string[]): void => {
    for (const line of lines) write(line);
    last = options.now();
  };
  return (event) => {
    switch (event.type) {
      case 'start':
        return print(...startLines(event).map(printable));
      case 'estimate':
        return print(...estimateLines(event.estimate));
      case 'progress':
        if (options.now() - last >= SILENCE) print(progressLine(event));
        return;
      case 'step': {
        const passAt1 = history.passAt1(event.metrics.step);
        return print(stepLine({ ...event, ...(passAt1 === undefined ? {} : { passAt1 }) }, columns));
      }
      case 'evaluation':
        history.add(event.metrics);
        return print(evaluationLine(event.metrics));
      case 'warning':
        return print(`warning: ${printable(event.message)}`);
      case 'summary': {
        return print(
          ...summaryLines(event, {
            columns,
            sparkline: history.line(options.columns ?? 100),
            command: options.command,
          }),
        );
      }
    }
  };
}
