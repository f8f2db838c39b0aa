/**
 * Verdicts per second of the embedded verifier on generated tasks: `node dist/bench/verifier.js [workers]`.
 * Every task's reference and one wrong program each, 10–20 hidden tests a program, no verdict from the cache.
 */
import { availableParallelism } from 'node:os';
import { verdictOf } from '../src/core/evidence.js';
import { synthTasks } from '../src/tasks/index.js';
import { createVerifier } from '../src/verify/index.js';

const workers = Number(process.argv[2] ?? availableParallelism());
const tasks = synthTasks({ seed: 1, split: 'train', language: 'javascript', difficulty: [1, 3], count: 2000 });
const programs = tasks.flatMap((task) => [
  { task, completion: task.reference, expected: 'accepted' },
  { task, completion: '  return null;\n}', expected: 'wrong_answer' },
]);
const verifier = await createVerifier({ workers, cacheSize: 1 });
const judge = async (batch: typeof programs): Promise<number> => {
  const verdicts = await Promise.all(batch.map(({ task, completion }) => verifier.verify(task, completion)));
  return verdicts.filter((evidence, i) => verdictOf(evidence) !== batch[i]?.expected).length;
};
await judge(programs.slice(0, 200));
const rates: number[] = [];
let wrong = 0;
for (let round = 0; round < 5; round++) {
  const began = performance.now();
  wrong += await judge(programs);
  rates.push(programs.length / ((performance.now() - began) / 1000));
}
await verifier.close();
rates.sort((a, b) => a - b);
console.log(`${workers} workers, ${programs.length} programs a round, 5 rounds, ${wrong} wrong verdicts`);
console.log(`verdicts/s: median ${Math.round(rates[2]!)}, range ${Math.round(rates[0]!)}–${Math.round(rates[4]!)}`);
process.exitCode = wrong > 0 ? 1 : 0;
