import type { Task } from '../core/task.js';

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

const mentions = (text: string, name: string): boolean => {
  const last = name.split('.').at(-1) as string;
  return text.includes(last);
};

/**
 * The program in a completion: the fenced block that names the entry point (else the first that is not blank), or the
 * prompt continued by the completion where there is no block. A block that does not name the entry point continues the
 * prompt, and so does text that ends at a lone closing fence. Returns null where there is nothing to run.
 */
export function extractProgram(task: Pick<Task, 'prompt' | 'entryPoint'>, completion: string): string | null {
  const { blocks, before } = fencedBlocks(completion);
  const only = blocks[0];
  const loneClose =
    blocks.length === 1 && only?.closed === false && before.trim() !== '' && !mentions(only.text, task.entryPoint);
  const text = loneClose ? before : blocks.length === 0 ? completion : undefined;
  if (text !== undefined) return text.trim() === '' ? null : task.prompt + text;

  const filled = blocks.filter((block) => block.text.trim() !== '');
  const named = filled.find((block) => mentions(block.text, task.entryPoint));
  if (named) return named.text;
  return filled[0] ? task.prompt + filled[0].text : null;
}
