import type { Task } from '../core/task.js';
import { escapeRegExp } from './asserts.js';

const FENCE = /^[ \t]*(```|~~~)/;

/**
 * The marker and the language of a line that opens or closes a block. No pattern decides about a whole line: with runs
 * that can be cut in several places it would take the square or cube of the line's length.
 */
function fenceIn(line: string): { readonly marker: string; readonly language: string } | undefined {
  const start = FENCE.exec(line);
  if (start === null) return undefined;
  const from = start[0].length - 3;
  let to = from;
  while (line[to] === line[from]) to++;
  if (line.includes('`', to)) return undefined;
  return { marker: line.slice(from, to), language: /^[^\s]*/.exec(line.slice(to).trimStart())?.[0] as string };
}

interface Block {
  readonly text: string;
  /** Whether the opening fence was followed by a closing one. */
  readonly closed: boolean;
}

/** The fenced blocks of a text; `before` is what stands ahead of the first fence. */
function fencedBlocks(text: string): { readonly blocks: readonly Block[]; readonly before: string } {
  const blocks: Block[] = [];
  let before: string[] | undefined;
  let lines: string[] = [];
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const fence = fenceIn(line);
    if (open === undefined && fence) {
      before ??= lines;
      open = fence.marker;
      lines = [];
    } else if (open !== undefined && fence?.language === '' && fence.marker.startsWith(open)) {
      blocks.push({ text: lines.join('\n'), closed: true });
      open = undefined;
      lines = [];
    } else {
      lines.push(line);
    }
  }
  if (open !== undefined) blocks.push({ text: lines.join('\n'), closed: false });
  return { blocks, before: (before ?? lines).join('\n') };
}

/** Where the white space that ends at `at` begins. */
function skipBack(text: string, at: number): number {
  let i = at;
  while (i > 0 && /\s/.test(text[i - 1] as string)) i--;
  return i;
}

const WORD = String.raw`[\p{ID_Continue}$\u200c\u200d]`;

/**
 * Whether a text declares the entry point: a declaring keyword before its name, an assignment to it or a property of
 * that name. Words that merely contain the name, and calls of it, declare nothing.
 */
function declares(text: string, entryPoint: string): boolean {
  const path = entryPoint.split('.');
  const name = escapeRegExp(path.at(-1) as string);
  const holder = path.length > 1 ? (path.at(-2) as string) : undefined;
  const word = new RegExp(WORD, 'u');
  /** Whether what stands before an assignment to the name leaves it the entry point: no dot, or that of its holder. */
  const ownName = (at: number): boolean => {
    const dot = skipBack(text, at) - 1;
    if (text[dot] !== '.') return true;
    const end = skipBack(text, dot);
    if (text.endsWith('exports', end) || text.endsWith('prototype', end)) return true;
    return holder !== undefined && text.endsWith(holder, end) && !word.test(text[end - holder.length - 1] ?? '');
  };
  for (const { index } of text.matchAll(new RegExp(String.raw`(?<!${WORD})${name}\s*=(?![=>])`, 'gu'))) {
    if (ownName(index)) return true;
  }
  return [
    String.raw`(?<!${WORD})(?:function|def|class|const|let|var)[\s*]+${name}(?!${WORD})`,
    String.raw`[{,]\s*["']?${name}["']?\s*:`,
    // A method of a class or an object.
    ...(path.length > 1 ? [String.raw`(?<![.]|${WORD})${name}\s*\([^()]*\)\s*\{`] : []),
  ].some((pattern) => new RegExp(pattern, 'u').test(text));
}

/**
 * The program in a completion: the fenced block that declares the entry point, or the prompt continued by the
 * completion where there is no block. Where no block declares it, the first that is not blank continues the prompt, and
 * so does text that ends at a lone closing fence. Returns null where there is nothing to run.
 */
export function extractProgram(task: Pick<Task, 'prompt' | 'entryPoint'>, completion: string): string | null {
  const { blocks, before } = fencedBlocks(completion);
  const only = blocks[0];
  const loneClose =
    blocks.length === 1 && only?.closed === false && before.trim() !== '' && !declares(only.text, task.entryPoint);
  const text = loneClose ? before : blocks.length === 0 ? completion : undefined;
  if (text !== undefined) return text.trim() === '' ? null : task.prompt + text;

  const filled = blocks.filter((block) => block.text.trim() !== '');
  const named = filled.find((block) => declares(block.text, task.entryPoint));
  if (named) return named.text;
  return filled[0] ? task.prompt + filled[0].text : null;
}
