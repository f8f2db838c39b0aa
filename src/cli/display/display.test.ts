import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunEvent } from '../../core/events.js';
import { evaluation, RUN, stepEvent } from './fixtures.js';
import { createFrame } from './frame.js';
import { createDisplay, createProgress, type Progress } from './index.js';
import { liveRenderer } from './live.js';
import { createStyle } from './stream.js';
import { Terminal } from './terminal.js';

/** Whoever runs the tests may have another terminal, or none. */
const XTERM = { TERM: 'xterm' };

/** A pipe that keeps what is written. */
class Pipe extends Writable {
  text = '';
  constructor() {
    super({ decodeStrings: false });
  }
  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk;
    done();
  }
}

/** What a pipe receives of some events. */
function pipe(events: readonly RunEvent[], mode: 'auto' | 'plain' | 'json'): string {
  const stream = new Pipe();
  const display = createDisplay({ stream, mode, now: () => 0, command: 'hone' });
  for (const event of events) display.event(event);
  display.close();
  return stream.text;
}

/** The terminal after some events. */
function watch(events: readonly RunEvent[], columns: number, environment: NodeJS.ProcessEnv = XTERM): Terminal {
  const stream = new Terminal(columns);
  const display = createDisplay({ stream, mode: 'auto', now: clock(), command: 'hone', environment });
  for (const event of events) display.event(event);
  display.close();
  return stream;
}

test('a piped run is plain lines, cost first and the comparison last', () => {
  expect(pipe(RUN, 'auto')).toMatchInlineSnapshot(`
    "policy models/base (1.3M parameters), programs in javascript
    run    runs/first
    cost   about 21s: 4 steps, 20k tokens, 512 programs, 2s of sandbox time
    evaluation before training  pass@1 34.5 % [30.5, 38.5]  pass@8 71.0 % [67.0, 75.0]  (heldout: 64 tasks, 8 samples each)
    step 1/4  reward 0.310  pass 31.0 %  entropy 0.82  distinct 2.1  groups 14/16  2.5k tokens/s  213 programs/s  sample/verify/update 41/12/47 %  15s left
    evaluation after step 2  pass@1 41.0 % [37.0, 45.0]  pass@8 72.0 % [68.0, 76.0]  (heldout: 64 tasks, 8 samples each)
    step 2/4  reward 0.320  pass 32.0 %  pass@1 41.0 %  entropy 0.82  distinct 2.1  groups 14/16  2.5k tokens/s  213 programs/s  sample/verify/update 41/12/47 %  10s left
    warning: 1 of 128 programs could not be judged: a worker died\\x1b[2J
    step 3/4  reward 0.330  pass 33.0 %  entropy 0.82  distinct 2.1  groups 14/16  2.5k tokens/s  213 programs/s  sample/verify/update 41/12/47 %  5s left
    evaluation after step 4  pass@1 58.9 % [54.9, 62.9]  pass@8 74.1 % [70.1, 78.1]  (heldout: 64 tasks, 8 samples each)
    step 4/4  reward 0.340  pass 34.0 %  pass@1 58.9 %  entropy 0.82  distinct 2.1  groups 14/16  2.5k tokens/s  213 programs/s  sample/verify/update 41/12/47 %

    Trained 4 steps in 21s, 20k tokens sampled while training.
    pass@1 34.5 % ▁▃█ 58.9 %  steps 0–4, scale 34.5–58.9 %

    64 tasks (heldout), 8 samples each, 95 % intervals

                           base              trained  points
    ────────────────────────────────────────────────────────
    pass@1  34.5 % [30.5, 38.5]  58.9 % [54.9, 62.9]   +24.4
    pass@8  71.0 % [67.0, 75.0]  74.1 % [70.1, 78.1]    +3.1

    Solved 1 of 1: heldout-17
      the task
      │ // language: javascript
      │ // Doubles each number and sums them.
      │ function solve(xs) {
      the base policy: wrong_answer
      │   return xs.reduce((a, b) => a + b);
      │ }
      the trained policy: accepted
      │   return xs.map((x) => x * 2).reduce((a, b) => a + b, 0);
      │ }

    Run folder  runs/first
    Weights     runs/first/checkpoints/step-4

    Go on from here:
      hone sample --model runs/first/checkpoints/step-4
      hone eval --model runs/first/checkpoints/step-4
    "
  `);
});

test('json is one object a line and nothing else', () => {
  const run = RUN.filter((event) => event.type !== 'progress');
  const lines = pipe(run, 'json').split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line))).toEqual(run);
});

test('json carries progress at most once a second', () => {
  const progress = RUN.find((event) => event.type === 'progress')!;
  expect(pipe([progress, progress, progress], 'json').split('\n')).toHaveLength(2);
});

test('a terminal shows the frame: head, steps, evaluation, sparkline, phase, time left', () => {
  expect(watch(RUN.slice(0, 8), 100).text).toMatchInlineSnapshot(`
    "policy models/base (1.3M parameters), programs in javascript
    run    runs/first
    cost   about 21s: 4 steps, 20k tokens, 512 programs, 2s of sandbox time

    step  reward    pass  pass@1  entropy  distinct  groups  tok/s  prog/s       s/v/u  left
     1/4   0.310  31.0 %             0.82       2.1   14/16   2.5k     213  41/12/47 %   15s
     2/4   0.320  32.0 %  41.0 %     0.82       2.1   14/16   2.5k     213  41/12/47 %   10s

    after step 2  pass@1 41.0 [37, 45]  pass@8 72.0 [68, 76]
    pass@1 34.5 % ▁█ 41.0 %  steps 0–2, scale 34.5–41.0 %
    ━━━━━━━─────────────────  sample 1.2k/4.1k tokens (30 %)  5s left
    "
  `);
});

test('a narrow terminal shows the most important columns, unwrapped', () => {
  expect(watch(RUN.slice(0, 8), 60).text).toMatchInlineSnapshot(`
    "policy models/base (1.3M parameters), programs in javascript
    run    runs/first
    cost   about 21s: 4 steps,
           20k tokens, 512 programs, 2s of sandbox time

    step  reward    pass  pass@1  entropy  groups  left
     1/4   0.310  31.0 %             0.82   14/16   15s
     2/4   0.320  32.0 %  41.0 %     0.82   14/16   10s

    after step 2  pass@1 41.0 [37, 45]  pass@8 72.0 [68, 76]
    pass@1 34.5 % ▁█ 41.0 %  steps 0–2, scale 34.5–41.0 %
    ━━━━━━─────────────  sample 1.2k/4.1k tokens (30 %)  5s left
    "
  `);
});

test('a redrawn frame looks as if it were drawn afresh, whatever came before it', () => {
  const events = RUN.filter((event) => event.type !== 'summary' && event.type !== 'warning');
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...events), { minLength: 1, maxLength: 12 }), (sequence) => {
      let time = 0;
      const now = (): number => time;
      const frame = createFrame(now);
      const terminal = new Terminal(80);
      const display = liveRenderer(terminal, {
        columns: () => 80,
        command: 'hone',
        now,
        style: createStyle(terminal, XTERM),
      });
      for (const event of sequence) {
        time++;
        frame.note(event);
        display.event(event);
      }
      const fresh = frame.lines(80, createStyle(new Pipe())).map((line) => line.trimEnd());
      while (fresh.at(-1) === '') fresh.pop();
      expect(terminal.text.trimEnd().split('\n')).toEqual(fresh);
    }),
  );
});

test('the frame keeps the last ten steps, and shows pass@1 that is measured after its step', () => {
  const events = Array.from({ length: 12 }, (_, i) => stepEvent(i + 1, 12));
  const { text } = watch([...events, { type: 'evaluation', metrics: evaluation(12, 0.5, 0.7) }], 110);
  expect(text).not.toContain(' 2/12');
  expect(text).toContain(' 3/12');
  expect(text).toMatch(/12\/12 +0\.420 +42\.0 % +50\.0 %/);
});

test('a finished run leaves one frame, the warnings above it and the summary below', () => {
  const { text } = watch(RUN, 80);
  expect(text.match(/step +reward/g)).toHaveLength(1);
  expect(text.indexOf('warning: ')).toBeLessThan(text.indexOf('policy '));
  expect(text.indexOf('Go on from here')).toBeGreaterThan(text.indexOf('4/4'));
});

test.each([40, 60, 80, 200])('nothing but warnings and paths wraps on a terminal of %i columns', (columns) => {
  const terminal = watch(
    RUN.filter((event) => event.type !== 'warning'),
    columns,
  );
  const paths = /^(Weights| {2}hone)/;
  expect(terminal.wrapped.filter((line) => !paths.test(line))).toEqual([]);
  expect(terminal.text).toContain('4/4');
  expect(terminal.text).toContain('+24.4');
});

test('a terminal without height for the frame shows its end', () => {
  const terminal = watch(RUN.slice(0, 8), 80);
  const low = new Terminal(80, 4);
  const display = createDisplay({ stream: low, mode: 'live', now: clock() });
  for (const event of RUN.slice(0, 8)) display.event(event);
  display.close();
  expect(terminal.text.trimEnd().endsWith(low.text.trim().split('\n').at(-1)!)).toBe(true);
});

test('a dumb terminal gets plain lines', () => {
  const stream = new Terminal(80);
  const display = createDisplay({ stream, mode: 'auto', environment: { TERM: 'dumb' } });
  for (const event of RUN.slice(0, 2)) display.event(event);
  display.close();
  expect(stream.text).toBe(pipe(RUN.slice(0, 2), 'plain'));
});

test('NO_COLOR leaves the redrawing and drops the colours', () => {
  expect(watch(RUN, 80).coloured).toBe(true);
  const plain = watch(RUN, 80, { TERM: 'xterm', NO_COLOR: '1' });
  expect(plain.coloured).toBe(false);
  expect(plain.text).toBe(watch(RUN, 80).text);
});

test('what a program or a message holds cannot steer the terminal', () => {
  // A `Terminal` throws at sequences that the display has no use for, such as erasing the screen.
  for (const text of [pipe(RUN, 'plain'), watch(RUN, 80).text]) expect(text).toContain('a worker died\\x1b[2J');
});

test('a piped run says after ten silent seconds how far it is', () => {
  let time = 0;
  const stream = new Pipe();
  const display = createDisplay({ stream, mode: 'plain', now: () => time });
  for (time = 0; time < 25; time++)
    display.event({ type: 'progress', phase: 'evaluate', done: time, total: 100, unit: 'programs' });
  expect(stream.text).toBe('evaluate 10/100 programs (10 %)\nevaluate 20/100 programs (20 %)\n');
});

/** Reports progress every five seconds to a stream. */
function pretrain(stream: Pipe | Terminal): Progress {
  let time = 0;
  const progress = createProgress({
    stream,
    label: 'pretraining',
    unit: 'batches',
    now: () => time,
    environment: XTERM,
  });
  for (; time <= 40; time += 5) progress.update(time * 10, 1000);
  return progress;
}

test('progress of other commands is a line with the time left every ten seconds when piped', () => {
  const stream = new Pipe();
  pretrain(stream).close();
  expect(stream.text).toMatchInlineSnapshot(`
    "pretraining 100/1.0k batches (10 %), 1m 30s left
    pretraining 200/1.0k batches (20 %), 1m 20s left
    pretraining 300/1.0k batches (30 %), 1m 10s left
    pretraining 400/1.0k batches (40 %), 1m 00s left
    "
  `);
});

test('progress of other commands is one line on a terminal, and gone at the end', () => {
  const terminal = new Terminal(40);
  const progress = pretrain(terminal);
  expect(terminal.text).toBe('pretraining 400/1.0k batches (40 %), 1m…\n');
  progress.close();
  expect(terminal.text).toBe('');
});

/** A clock on which every reading is a second later. */
function clock(): () => number {
  let time = 0;
  return () => time++;
}
