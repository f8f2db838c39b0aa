/**
 * The main job end to end, as a newcomer runs it: `node dist/bench/main-job.js [--seeds 1,2,3] [--keep DIR]`.
 * Per seed: one run, timed from start to exit. For the first seed also a second run (byte-equal metrics?) and a run
 * that is killed with SIGKILL half-way and resumed (bit-equal weights?). Prints a Markdown table; exits 1 when a
 * target is missed. Runs in a temporary folder and nothing else should run meanwhile.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { RunEvent } from '../src/core/events.js';
import type { Interval } from '../src/core/metrics.js';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '1,2,3' }, keep: { type: 'string' } } });
const seeds = values.seeds.split(',').map(Number);
const root = values.keep ?? mkdtempSync(join(tmpdir(), 'hone-bench-'));
const main = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));

type Summary = Extract<RunEvent, { type: 'summary' }>;

/** Runs `hone train`; `onEvent` may kill it. Seconds are wall-clock, process start included. */
async function run(
  args: readonly string[],
  onEvent: (event: RunEvent, child: ChildProcess) => void = () => {},
): Promise<{ seconds: number; summary: Summary | undefined; estimateMinutes: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, [main, 'train', '--json', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let summary: Summary | undefined;
  let estimateMinutes = 0;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = JSON.parse(line) as RunEvent;
      if (event.type === 'summary') summary = event;
      if (event.type === 'estimate') estimateMinutes = event.estimate.minutes;
      onEvent(event, child);
    }
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0 && code !== null) throw new Error(`hone train ${args.join(' ')} ended with exit code ${code}`);
  return { seconds: (performance.now() - began) / 1000, summary, estimateMinutes };
}

const hash = (...path: string[]): string =>
  createHash('sha256')
    .update(readFileSync(join(...path)))
    .digest('hex');
const percent = ({ value, low, high }: Interval): string =>
  `${(100 * value).toFixed(1)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;
const misses: string[] = [];
const check = (holds: boolean, what: string): string => {
  if (!holds) misses.push(what);
  return holds ? 'yes' : 'NO';
};

console.log(
  `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, Node ${process.version}, ${process.platform}\n`,
);
console.log('| seed | minutes | estimated | base pass@1 | trained pass@1 | gain | base pass@8 | trained pass@8 |');
console.log('| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const seed of seeds) {
  const { seconds, summary, estimateMinutes } = await run([
    '--seed',
    String(seed),
    '--out',
    join(root, `seed-${seed}`),
  ]);
  if (!summary) throw new Error('the run printed no summary');
  const at = (which: 'base' | 'trained', k: string): Interval =>
    summary[which].passAt[k] ?? { value: 0, low: 0, high: 1 };
  const gain = 100 * (at('trained', '1').value - at('base', '1').value);
  const cells = [
    seed,
    (seconds / 60).toFixed(2),
    estimateMinutes.toFixed(2),
    percent(at('base', '1')),
    percent(at('trained', '1')),
    `+${gain.toFixed(1)}`,
    percent(at('base', '8')),
    percent(at('trained', '8')),
  ];
  console.log(`| ${cells.join(' | ')} |`);
  check(seconds <= 300, `seed ${seed}: ${seconds.toFixed(0)} s > 300 s`);
  check(gain >= 20, `seed ${seed}: gain of ${gain.toFixed(1)} points < 20`);
  check(at('base', '1').value >= 0.25 && at('base', '1').value <= 0.5, `seed ${seed}: base pass@1 outside 25–50 %`);
  check(at('trained', '8').value >= at('base', '8').value, `seed ${seed}: pass@8 fell`);
}

const seed = String(seeds[0]);
const first = join(root, `seed-${seed}`);
const twice = join(root, 'twice');
await run(['--seed', seed, '--out', twice]);
const equal = hash(first, 'metrics.jsonl') === hash(twice, 'metrics.jsonl');
console.log(`\nsame seed twice, metrics.jsonl equal to the byte: ${check(equal, 'metrics.jsonl differ')}`);

const killed = join(root, 'killed');
let last = 0;
await run(['--seed', seed, '--out', killed], (event, child) => {
  if (event.type !== 'step') return;
  last = event.steps;
  if (event.metrics.step === Math.floor(event.steps / 2)) child.kill('SIGKILL');
});
await run(['--resume', killed]);
const final = ['checkpoints', `step-${last}`, 'model.safetensors'];
const same = hash(first, ...final) === hash(killed, ...final);
console.log(`killed half-way and resumed, final weights equal bit for bit: ${check(same, 'resumed weights differ')}`);

if (values.keep === undefined) rmSync(root, { recursive: true, force: true });
for (const miss of misses) console.log(`target missed: ${miss}`);
process.exitCode = misses.length > 0 ? 1 : 0;
