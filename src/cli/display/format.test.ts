import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bytes,
  count,
  duration,
  fixed,
  percent,
  points,
  printable,
  shares,
  shellQuote,
  shortPath,
  truncate,
  width,
  wrap,
} from './format.js';

test('durations read as a person says them, and round up into the next unit', () => {
  expect([0, 0.42, 1, 59.4, 59.6, 65, 3599.6, 7620, -1, Number.NaN].map(duration)).toMatchInlineSnapshot(`
    [
      "0s",
      "0.4s",
      "1s",
      "59s",
      "1m 00s",
      "1m 05s",
      "1h 00m",
      "2h 07m",
      "–",
      "–",
    ]
  `);
});

test('counts keep two to three digits', () => {
  expect(
    [0, 7, 950, 999.6, 1234, 9960, 37_400, 999_999, 1_200_000, -1500, Number.NaN].map(count),
  ).toMatchInlineSnapshot(`
    [
      "0",
      "7",
      "950",
      "1.0k",
      "1.2k",
      "10k",
      "37k",
      "1.0M",
      "1.2M",
      "-1.5k",
      "–",
    ]
  `);
});

test('bytes use binary units', () => {
  expect([0, 512, 8 * 2 ** 20, 23.4 * 2 ** 30].map(bytes)).toMatchInlineSnapshot(`
    [
      "0 B",
      "512 B",
      "8.0 MiB",
      "23 GiB",
    ]
  `);
});

test('shares, points and plain numbers', () => {
  expect([percent(0.4123), percent(1, 0), percent(Number.NaN)]).toEqual(['41.2 %', '100 %', '–']);
  expect([points(0.2468), points(-0.031), points(0.0001), points(Number.NaN)]).toEqual(['+24.7', '-3.1', '0.0', '–']);
  expect([fixed(0.3129, 3), fixed(Number.POSITIVE_INFINITY, 1)]).toEqual(['0.313', '–']);
});

test('shares of a whole add up to 100', () => {
  expect(shares([4.1, 1.2, 4.7])).toBe('41/12/47 %');
  expect(shares([0, 0, 0])).toBe('–');
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 6 }), (parts) => {
      fc.pre(parts.some((part) => part > 1e-6));
      const total = shares(parts)
        .slice(0, -2)
        .split('/')
        .reduce((sum, part) => sum + Number(part), 0);
      expect(total).toBe(100);
    }),
  );
});

test('truncated text never takes more columns than allowed', () => {
  expect(truncate('held-out tasks', 10)).toBe('held-out…');
  expect(truncate('任务描述', 5)).toBe('任务…');
  expect(truncate('short', 5)).toBe('short');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, columns) => {
      expect(width(truncate(printable(text), columns))).toBeLessThanOrEqual(columns);
    }),
  );
});

test('a sampled program cannot send control sequences to the terminal', () => {
  expect(printable('a\u001b[2Jb\r\nc\td\u0007\u202ee')).toBe('a\\x1b[2Jb\nc  d\\x07\\u202ee');
});

test('paths are quoted for the shell only where needed', () => {
  expect(shellQuote('runs/2024-01-01')).toBe('runs/2024-01-01');
  expect(shellQuote("my run's")).toBe("'my run'\\''s'");
});

test('paths are relative below the current folder and absolute elsewhere', () => {
  expect(shortPath('/a/b/c', '/a')).toBe('b/c');
  expect(shortPath('/a/b', '/a/b')).toBe('/a/b');
  expect(shortPath('/x/y', '/a/b')).toBe('/x/y');
});

test('long lines are wrapped at spaces and lose nothing', () => {
  expect(wrap('short', 20)).toEqual(['short']);
  expect(wrap('// keep the even numbers, then add', 20)).toEqual(['// keep the even', '  numbers, then add']);
  const words = 'ab cde fghi jklmnopqrstuvwxyzabcdefghijkl mno';
  const wrapped = wrap(words, 12);
  expect(wrapped.every((line) => line.length <= 12)).toBe(true);
  expect(wrapped.join('').replaceAll(' ', '')).toBe(words.replaceAll(' ', ''));
});
