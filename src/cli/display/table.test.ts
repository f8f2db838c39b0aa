import { expect, test } from 'vitest';
import { width } from './format.js';
import { table } from './table.js';

const head = ['', 'base', 'trained', 'difference'];
const rows = [
  ['pass@1', '34.5 % [30.1, 38.9]', '58.9 % [54.0, 63.2]', '+24.4'],
  ['pass@8', '71.0 % [66.2, 75.4]', '74.1 % [69.9, 78.0]', '+3.1'],
];

test('a table of numbers is aligned to the right under its heads, without colours', () => {
  const text = table(head, rows).join('\n');
  expect(text).not.toContain('\u001b');
  expect(text).toMatchInlineSnapshot(`
    "                       base              trained  difference
    ────────────────────────────────────────────────────────────
    pass@1  34.5 % [30.1, 38.9]  58.9 % [54.0, 63.2]       +24.4
    pass@8  71.0 % [66.2, 75.4]  74.1 % [69.9, 78.0]        +3.1"
  `);
});

test('a table is cut to the columns that there are', () => {
  const lines = table(head, rows, { columns: 40 });
  expect(Math.max(...lines.map(width))).toBe(40);
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "             base    trained  difference
    ────────────────────────────────────────
    pass@1  34.5 % […  58.9 % […       +24.4
    pass@8  71.0 % […  74.1 % […        +3.1"
  `);
});

test('columns may be aligned to the left, and wide characters count twice', () => {
  expect(
    table(
      ['id', 'text'],
      [
        ['1', '任务'],
        ['22', 'x'],
      ],
      { align: ['right', 'left'] },
    ),
  ).toMatchInlineSnapshot(`
    [
      "id  text",
      "────────",
      " 1  任务",
      "22  x",
    ]
  `);
});
