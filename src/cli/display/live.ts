import { createLogUpdate } from 'log-update';
import type { RunEvent } from '../../core/events.js';
import { printable } from './format.js';
import { createFrame } from './frame.js';
import { summaryLines } from './lines.js';
import type { DisplayStream, Style } from './stream.js';

/** Shortest time between two drawings that only show progress, seconds. */
const REDRAW = 0.1;

/** A frame that is redrawn in place on a terminal, followed by the summary. */
export function liveRenderer(
  stream: DisplayStream,
  options: {
    readonly columns: () => number;
    readonly command: string;
    readonly now: () => number;
    readonly style: Style;
  },
): { event(event: RunEvent): void; close(): void } {
  const draw = createLogUpdate(stream);
  const { style } = options;
  const frame = createFrame(options.now);
  let height = 0;
  let drawn = Number.NEGATIVE_INFINITY;

  const redraw = (): void => {
    drawn = options.now();
    const lines = frame.lines(options.columns(), style);
    // log-update 7.2 patches frames of equal height only; lines that come or go would land on their neighbours.
    if (lines.length !== height) draw.clear();
    height = lines.length;
    draw(lines.join('\n'));
  };
  /** Prints above the frame, where it stays. */
  const persist = (line: string): void => {
    draw.clear();
    stream.write(`${line}\n`);
  };

  return {
    event(event) {
      frame.note(event);
      switch (event.type) {
        case 'progress':
          if (options.now() - drawn >= REDRAW) redraw();
          return;
        case 'warning':
          persist(style.yellow(`warning: ${printable(event.message)}`));
          return redraw();
        case 'summary': {
          redraw();
          draw.done();
          const columns = options.columns();
          const sparkline = frame.history.line(columns);
          for (const line of summaryLines(event, { columns, sparkline, command: options.command }))
            stream.write(`${line}\n`);
          return;
        }
        case 'start':
        case 'estimate':
        case 'evaluation':
        case 'step':
          return redraw();
      }
    },
    close() {
      draw.done();
    },
  };
}
