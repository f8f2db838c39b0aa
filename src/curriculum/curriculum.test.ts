import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleTask } from '../core/fixtures.testing.js';
import { shuffled } from './shuffled.js';
import { uniform } from './uniform.js';

const tasks = (n: number) => Array.from({ length: n }, (_, i) => exampleTask(`t${i}`));

test('every epoch holds every task once, in an order of its own', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.nat(1000), (n, seed) => {
      const at = shuffled(tasks(n), seed);
      for (const epoch of [0, 1, 5]) {
        const ids = Array.from({ length: n }, (_, i) => at(epoch * n + i).id);
        expect([...ids].sort()).toEqual(
          tasks(n)
            .map((t) => t.id)
            .sort(),
        );
      }
    }),
  );
  const at = shuffled(tasks(20), 1);
  const order = (epoch: number) => Array.from({ length: 20 }, (_, i) => at(epoch * 20 + i).id);
  expect(order(0)).not.toEqual(order(1));
});

test('what an index gives does not depend on what was asked before', () => {
  const forward = shuffled(tasks(7), 3);
  const ids = Array.from({ length: 30 }, (_, i) => forward(i).id);
  const backward = shuffled(tasks(7), 3);
  expect(Array.from({ length: 30 }, (_, i) => backward(29 - i).id).reverse()).toEqual(ids);
});

test('steps take neighbouring stretches of the tasks', () => {
  const scheduler = uniform((i) => exampleTask(`t${i}`), { groupSize: 4, temperature: 1 });
  const ids = [1, 2].flatMap((step) => scheduler.next(step, 3).map((spec) => spec.task.id));
  expect(ids).toEqual(['t0', 't1', 't2', 't3', 't4', 't5']);
});
