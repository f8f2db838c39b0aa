import { stream } from '../core/seeds.js';
import type { Task } from '../core/task.js';

/** Index → task over a finite list: every epoch is a fresh permutation drawn from stream `shuffle, epoch`. */
export function shuffled(tasks: readonly Task[], seed: number): (index: number) => Task {
  let epoch = -1;
  let order: readonly Task[] = [];
  return (index) => {
    const wanted = Math.floor(index / tasks.length);
    if (wanted !== epoch) {
      epoch = wanted;
      order = stream(seed, 'shuffle', epoch).shuffle(tasks);
    }
    return order[index % tasks.length] as Task;
  };
}
