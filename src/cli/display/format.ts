import { isAbsolute, relative } from 'node:path';
/** Shown where a number is not known. */
export const UNKNOWN = '–';

/** A length of time for people: `0.4s`, `12s`, `1m 05s`, `2h 07m`. Seconds in; negative and non-finite give `–`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return UNKNOWN;
  if (seconds === 0) return '0s';
  if (seconds < 0.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${pad2(whole % 60)}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}h ${pad2(minutes % 60)}m`;
}

const pad2 = (n: number): string => String(n).padStart(2, '0');

/** A number of things for people, two to three digits: `7`, `950`, `1.2k`, `37k`, `1.2M`. */
export function count(n: number): string {
  if (!Number.isFinite(n)) return UNKNOWN;
  if (n < 0) return `-${count(-n)}`;
  let value = n;
  for (const unit of ['', 'k', 'M', 'G', 'T']) {
    const text = unit === '' ? String(Math.round(value)) : value < 9.95 ? value.toFixed(1) : String(Math.round(value));
    if (Number(text) < 1000 || unit === 'T') return text + unit;
    value /= 1000;
  }
  return UNKNOWN;
}

/** A size in bytes for people: `512 B`, `8.0 MiB`, `23 GiB`. */
export function bytes(n: number): string {
  if (!Number.isFinite(n)) return UNKNOWN;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = n;
  let unit = 0;
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A share (0–1) in per cent: `41.2 %`. */
export function percent(share: number, digits = 1): string {
  return Number.isFinite(share) ? `${(share * 100).toFixed(digits)} %` : UNKNOWN;
}

/** A difference of two shares in percentage points with its sign: `+24.7`. */
export function points(difference: number): string {
  if (!Number.isFinite(difference)) return UNKNOWN;
  const text = (difference * 100).toFixed(1);
  return Number(text) === 0 ? '0.0' : Number(text) > 0 ? `+${text}` : text;
}

/** A number with fixed decimals, or `–`. */
export function fixed(n: number, digits: number): string {
  return Number.isFinite(n) ? n.toFixed(digits) : UNKNOWN;
}

/** Shares of a whole in whole per cent that add up to 100: `41/12/47 %`. */
export function shares(parts: readonly number[]): string {
  const total = parts.reduce((sum, part) => sum + part, 0);
  if (!(total > 0) || !Number.isFinite(total)) return UNKNOWN;
  const floors = parts.map((part) => Math.floor((part / total) * 100));
  const missing = 100 - floors.reduce((sum, part) => sum + part, 0);
  const byRemainder = parts
    .map((part, i) => ({ i, remainder: (part / total) * 100 - floors[i]! }))
    .sort((a, b) => b.remainder - a.remainder);
  for (const { i } of byRemainder.slice(0, missing)) floors[i]!++;
  return `${floors.join('/')} %`;
}

const WIDE =
  /[\p{Extended_Pictographic}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const ZERO = /\p{M}|[\u200b-\u200c]|\u200d|[\ufe00-\ufe0f]/u;

/** Terminal columns that a text takes (no control characters in it; see `printable`). */
export function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

/** The text cut to at most `columns` terminal columns, with `…` where something was cut. */
export function truncate(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let used = 0;
  let kept = '';
  for (const character of text) {
    const w = width(character);
    if (used + w > columns - 1) break;
    used += w;
    kept += character;
  }
  return columns > 0 ? `${kept.trimEnd()}…` : '';
}

/**
 * Text that cannot steer a terminal: control characters, which a sampled program may contain, become visible escapes.
 * Line breaks stay; tabs become two spaces.
 */
export function printable(text: string): string {
  return (
    text
      .replace(/\r\n?/g, '\n')
      .replace(/\t/g, '  ')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
      .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
        const code = character.charCodeAt(0);
        return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
      })
  );
}

/** A path or argument as a POSIX shell reads it back. */
export function shellQuote(argument: string): string {
  return /^[\w./:@%+=,-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** Breaks a line at spaces, or where it must, into pieces of at most `columns`; later pieces are indented by two. */
export function wrap(line: string, columns: number): string[] {
  if (width(line) <= columns || columns < 10) return [line];
  let end = columns;
  while (width(line.slice(0, end)) > columns) end--;
  const space = line.lastIndexOf(' ', end);
  const at = space > columns / 2 ? space : end;
  return [line.slice(0, at), ...wrap(`  ${line.slice(at).trimStart()}`, columns)];
}

/** A path as one would type it here: relative where it lies below the current folder. */
export function shortPath(path: string, from = process.cwd()): string {
  const short = relative(from, path);
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short;
}
