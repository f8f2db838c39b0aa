/** Sequences that continue the same prompt, at most as many as the layout has members per group. */
export interface SlotGroup<M> {
  readonly prompt: readonly number[];
  readonly members: readonly M[];
}

/** How a batch lies in the decode graph: group-major slots, `members` a group; a slot may be empty. */
export interface SlotLayout<M> {
  readonly groups: readonly SlotGroup<M>[];
  readonly members: number;
  /** groups · members entries. */
  readonly slots: readonly (M | undefined)[];
}

/**
 * Time of a prompt column of one group, in units of the time of one slot without attention (measured on a 1.4M-parameter
 * model: 1 µs against 45 µs). Only the choice of layout depends on it.
 */
const COLUMN_COST = 1 / 40;

/**
 * Lays out sequences so that a decode step costs least: few members a group waste no slots on small groups, many
 * members read a prompt once for more sequences. Sequences with one prompt must be adjacent.
 */
export function layOutSlots<M extends { readonly prompt: readonly number[] }>(sequences: readonly M[]): SlotLayout<M> {
  const byPrompt: { prompt: readonly number[]; members: M[] }[] = [];
  for (const sequence of sequences) {
    const last = byPrompt.at(-1);
    if (last !== undefined && samePrompt(last.prompt, sequence.prompt)) last.members.push(sequence);
    else byPrompt.push({ prompt: sequence.prompt, members: [sequence] });
  }
  const columns = Math.max(...byPrompt.map(({ prompt }) => prompt.length));
  let members = 1;
  let least = Number.POSITIVE_INFINITY;
  for (let size = 1; size <= Math.max(...byPrompt.map((group) => group.members.length)); size++) {
    const groups = byPrompt.reduce((total, group) => total + Math.ceil(group.members.length / size), 0);
    const cost = groups * (size + columns * COLUMN_COST);
    if (cost < least) {
      least = cost;
      members = size;
    }
  }
  const groups = byPrompt.flatMap((group) =>
    Array.from({ length: Math.ceil(group.members.length / members) }, (_, i) => ({
      prompt: group.prompt,
      members: group.members.slice(i * members, (i + 1) * members),
    })),
  );
  const slots = groups.flatMap((group) => Array.from({ length: members }, (_, i) => group.members[i]));
  return { groups, members, slots };
}

function samePrompt(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((id, i) => id === b[i]));
}
