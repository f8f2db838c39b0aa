import { createLogUpdate } from 'log-update';
import { count, duration, truncate } from './format.js';
import { canRedraw, type DisplayStream } from './stream.js';

/** Shortest time between two drawings on a terminal and between two lines elsewhere, seconds. */
const REDRAW = 0.1;
const PRINT = 10;

/** Shows how far something long has come. */
export interface Progress {
  update(done: number, total: number): void;
  /** Removes the line from a terminal and prints nothing elsewhere; a later update opens it again. */
  close(): void;
}

/**
 * A line `LABEL 120/320 UNIT (38 %), 1m 05s left`: redrawn on a terminal, printed at most every ten seconds elsewhere.
 * The time left assumes that the rest goes as fast as what was done since the first update.
 */
export function createProgress(options: {
  readonly stream: DisplayStream;
  readonly label: string;
  readonly unit: string;
  readonly columns?: number;
  /** Seconds on a monotonic clock. */
  readonly now?: () => number;
  /** Read for TERM; the process's own by default. */
  readonly environment?: NodeJS.ProcessEnv;
}): Progress {
  const { stream, label, unit } = options;
  const now = options.now ?? (() => performance.now() / 1000);
  const draw = canRedraw(stream, options.environment) ? createLogUpdate(stream) : undefined;
  let last = draw ? Number.NEGATIVE_INFINITY : now();
  /** The first update since the line was opened; the speed is measured from here. */
  let first: { readonly time: number; readonly done: number } | undefined;
  return {
    update(done, total) {
      const time = now();
      first ??= { time, done };
      if (time - last < (draw ? REDRAW : PRINT)) return;
      last = time;
      const share = total > 0 ? `/${count(total)} ${unit} (${Math.floor((done / total) * 100)} %)` : ` ${unit}`;
      const seconds = ((time - first.time) * (total - done)) / (done - first.done);
      const left = Number.isFinite(seconds) && seconds >= 0 ? `, ${duration(seconds)} left` : '';
      const line = `${label} ${count(done)}${share}${left}`;
      if (draw) draw(truncate(line, options.columns ?? stream.columns ?? 80));
      else stream.write(`${line}\n`);
    },
    close() {
      first = undefined;
      draw?.clear();
      draw?.done();
    },
  };
}
