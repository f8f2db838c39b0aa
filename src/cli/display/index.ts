import type { RunEvent } from '../../core/events.js';
import { commandName } from '../command-name.js';
import { liveRenderer } from './live.js';
import { plainRenderer } from './plain.js';
import { canRedraw, createStyle, type DisplayStream } from './stream.js';

export { createProgress, type Progress } from './progress.js';
export type { DisplayStream } from './stream.js';

export type DisplayMode = 'auto' | 'plain' | 'json' | 'live';

export interface DisplayOptions {
  readonly stream: DisplayStream;
  /** `auto`: `live` on a terminal, `plain` elsewhere. */
  readonly mode: DisplayMode;
  /** Terminal columns; the stream's own by default. */
  readonly columns?: number;
  /** How this program is called in the commands it suggests; `hone` by default. */
  readonly command?: string;
  /** Seconds on a monotonic clock; only decides when to redraw and what time is left. */
  readonly now?: () => number;
  /** Read for TERM, NO_COLOR and HONE_COMMAND; the process's own by default. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Shows a run to whoever watches it. */
export interface Display {
  event(event: RunEvent): void;
  /** Leaves the terminal as it was found; call it however the run ends. */
  close(): void;
}

/** A display of run events on a stream: redrawn in place, plain lines, or one JSON object a line. */
export function createDisplay(options: DisplayOptions): Display {
  const { stream } = options;
  const environment = options.environment ?? process.env;
  const command = options.command ?? commandName(undefined, options.environment);
  const now = options.now ?? (() => performance.now() / 1000);
  const write = (line: string): void => void stream.write(`${line}\n`);
  const mode = options.mode === 'auto' ? (canRedraw(stream, environment) ? 'live' : 'plain') : options.mode;
  switch (mode) {
    case 'json':
      return { event: jsonRenderer(write, now), close: () => {} };
    case 'live':
      return liveRenderer(stream, {
        columns: () => options.columns ?? stream.columns ?? 80,
        command,
        now,
        style: createStyle(stream, environment),
      });
    case 'plain': {
      const columns = options.columns ?? stream.columns;
      return {
        event: plainRenderer(write, { ...(columns === undefined ? {} : { columns }), command, now }),
        close: () => {},
      };
    }
  }
}

/** One object a line; of progress at most one a second. */
function jsonRenderer(write: (line: string) => void, now: () => number): (event: RunEvent) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (event) => {
    if (event.type === 'progress') {
      if (now() - last < 1) return;
      last = now();
    }
    write(JSON.stringify(event));
  };
}
