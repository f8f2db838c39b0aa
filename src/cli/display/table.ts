import Table from 'cli-table3';
import { truncate, width } from './format.js';

/** Columns between two table columns. */
const GAP = 2;

const NO_FRAME = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat('middle')
    .map((name) => [name, '']),
);

/**
 * Lines of a table without frames or colours: a head, a rule, the rows. The first column is left-aligned and the others
 * right-aligned unless `align` says otherwise. Cells are cut where the table would be wider than `columns`.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  options: { readonly columns?: number; readonly align?: readonly ('left' | 'right')[] } = {},
): string[] {
  const widths = head.map((title, i) => Math.max(width(title), ...rows.map((row) => width(row[i] ?? ''))));
  shrink(widths, (options.columns ?? Number.POSITIVE_INFINITY) - GAP * (head.length - 1));
  const drawn = new Table({
    // cli-table3 counts the padding, which is the gap to the next column, as part of a column.
    colWidths: widths.map((w) => w + GAP),
    colAligns: head.map((_, i) => options.align?.[i] ?? (i === 0 ? 'left' : 'right')),
    chars: NO_FRAME,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [] },
  });
  for (const row of [head, ...rows]) drawn.push(widths.map((w, i) => truncate(row[i] ?? '', w)));
  const [first = '', ...rest] = drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  const rule = '─'.repeat(widths.reduce((sum, w) => sum + w, GAP * (head.length - 1)));
  return [first, rule, ...rest];
}

/** Narrows the widest columns until the widths add up to at most `columns`; no column falls below three. */
function shrink(widths: number[], columns: number): void {
  while (widths.reduce((sum, w) => sum + w, 0) > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= 3) return;
    widths[widest]!--;
  }
}
