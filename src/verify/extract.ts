import type { Task } from '../core/task.js';
import { escapeRegExp } from './asserts.js';

const FENCE = /^[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*$/;

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
    const fence = FENCE.exec(line);
    const marker = fence?.[1] as string;
    if (open === undefined && fence) {
      before ??= lines;
      open = marker;
      lines = [];
    } else if (open !== undefined && fence && marker.startsWith(open) && fence[2] === '') {
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

const WORD = String.raw`[\p{ID_Continue}$\u200c\u200d]`;

/**
 * Whether a text declares the entry point: a declaring keyword before its name, an assignment to it or a property of
 * that name. Words that merely contain the name, and calls of it, declare nothing.
 */
function declares(text: string, entryPoint: string): boolean {
  const path = entryPoint.split('.');
  const name = escapeRegExp(path.at(-1) as string);
  const holder = path.length > 1 ? `|(?<!${WORD})${escapeRegExp(path.at(-2) as string)}` : '';
  return [
    String.raw`(?<!${WORD})(?:function|def|class|const|let|var)[\s*]+${name}(?!${WORD})`,
    String.raw`(?:(?<![.]|${WORD})|(?<=(?:exports|prototype${holder})\s*\.\s*))${name}\s*=(?![=>])`,
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
