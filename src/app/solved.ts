import type { SolvedExample } from '../core/events.js';
import { verdictOf } from '../core/evidence.js';
import type { Group } from '../core/trajectory.js';

const accepted = (group: Group): number =>
  group.trajectories.filter((t) => verdictOf(t.evidence) === 'accepted').length;

/** Tasks that the base policy failed in every sample and the trained policy solves, most often solved first. */
export function solvedExamples(base: readonly Group[], trained: readonly Group[], count: number): SolvedExample[] {
  return trained
    .map((after, i) => ({ before: base[i] as Group, after }))
    .filter(({ before, after }) => accepted(after) > 0 && accepted(before) === 0)
    .sort((x, y) => accepted(y.after) - accepted(x.after))
    .flatMap(({ before, after }) => {
      const failed = before.trajectories.find((t) => verdictOf(t.evidence) !== 'accepted');
      const solved = after.trajectories.find((t) => verdictOf(t.evidence) === 'accepted');
      if (!failed || !solved) return [];
      return [
        {
          taskId: after.task.id,
          prompt: after.task.prompt,
          before: failed.text,
          beforeVerdict: verdictOf(failed.evidence),
          after: solved.text,
        },
      ];
    })
    .slice(0, count);
}
