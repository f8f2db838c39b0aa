import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layOutSlots } from './slots.js';

test('every sequence has one slot, in a group of its prompt', () => {
  const counts = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 12 })), { minLength: 1 });
  fc.assert(
    fc.property(counts, (groups) => {
      const sequences = groups.flatMap(([length, n], i) => {
        const prompt = [i, ...new Array<number>(length).fill(1)];
        return Array.from({ length: n }, () => ({ prompt }));
      });
      const layout = layOutSlots(sequences);
      expect(layout.slots.length).toBe(layout.groups.length * layout.members);
      expect(layout.slots.filter((s) => s !== undefined)).toEqual(sequences);
      expect(new Set(layout.slots.filter((s) => s !== undefined)).size).toBe(sequences.length);
      layout.groups.forEach((group, i) => {
        const slots = layout.slots.slice(i * layout.members, (i + 1) * layout.members);
        for (const slot of slots) if (slot !== undefined) expect(slot.prompt).toBe(group.prompt);
      });
    }),
  );
});

test('groups of one size keep together; a straggler does not hold empty slots open', () => {
  const group = (id: number, n: number, length = 80): { prompt: number[] }[] => {
    const prompt = new Array<number>(length).fill(id);
    return Array.from({ length: n }, () => ({ prompt }));
  };
  expect(layOutSlots([...group(1, 8), ...group(2, 8)])).toMatchObject({ members: 8, slots: { length: 16 } });
  expect(layOutSlots([...group(1, 8), ...group(2, 1), ...group(3, 1), ...group(4, 1)]).slots.length).toBeLessThan(16);
  expect(layOutSlots([...group(1, 1), ...group(2, 1)])).toMatchObject({ members: 1, slots: { length: 2 } });
});
