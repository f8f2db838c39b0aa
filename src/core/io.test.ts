import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { HoneError } from './error.js';
import { appendDurably, withPath, writeAtomic, writeDurably } from './io.js';

const directory = mkdtempSync(join(tmpdir(), 'hone-io-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const codeOf = (operation: () => void): string => {
  try {
    operation();
  } catch (error) {
    if (error instanceof HoneError) return error.code;
    throw error;
  }
  return 'none';
};

test('writeAtomic replaces content and leaves no temporary file', () => {
  const file = join(directory, 'a.txt');
  writeAtomic(file, 'one');
  writeAtomic(file, 'two');
  expect(readFileSync(file, 'utf8')).toBe('two');
  expect(existsSync(`${file}.tmp`)).toBe(false);
});

test('writeDurably writes chunk after chunk over what was there', () => {
  const file = join(directory, 'c.txt');
  writeFileSync(file, 'something longer than the new content');
  writeDurably(file, ['one, ', new TextEncoder().encode('two')]);
  expect(readFileSync(file, 'utf8')).toBe('one, two');
});

test('appendDurably appends', () => {
  const file = join(directory, 'b.txt');
  appendDurably(file, 'é\n');
  appendDurably(file, 'b\n');
  expect(readFileSync(file, 'utf8')).toBe('é\nb\n');
});

test('a path through a file is refused with a message that names it', () => {
  const file = join(directory, 'plain');
  writeFileSync(file, '');
  expect(codeOf(() => writeAtomic(join(file, 'x'), ''))).toBe('unwritable');
  expect(codeOf(() => withPath(file, () => mkdirSync(file, { recursive: true })))).toBe('unwritable');
});

test('a name that the file system does not take is refused', () => {
  expect(codeOf(() => writeDurably(join(directory, 'x'.repeat(300)), []))).toBe('unwritable');
});

test.skipIf(!existsSync('/dev/full'))('a full disk is told from other failures', () => {
  expect(codeOf(() => appendDurably('/dev/full', 'x'))).toBe('disk_full');
});
