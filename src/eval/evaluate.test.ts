import { expect, test } from 'vitest';
import { exampleGroup } from '../core/fixtures.testing.js';
import { summarise } from './evaluate.js';

const options = { split: 'heldout', step: 3, samples: 2, ks: [1, 2], temperature: 1, seed: 1 };

test('pass@k averages tasks', () => {
  const metrics = summarise(
    [exampleGroup('accepted', 'wrong_answer'), exampleGroup('wrong_answer', 'time_limit')],
    options,
  );
  expect(metrics.passAt['1']?.value).toBe(0.25);
  expect(metrics.passAt['2']?.value).toBe(0.5);
  expect(metrics.infraErrors).toBe(0);
});

test('a sample lost to the infrastructure is neither a pass nor a failure', () => {
  const metrics = summarise(
    [exampleGroup('accepted', 'infra_error'), exampleGroup('infra_error', 'infra_error')],
    options,
  );
  expect(metrics.passAt['1']?.value).toBe(1);
  expect(metrics.infraErrors).toBe(0.75);
});
