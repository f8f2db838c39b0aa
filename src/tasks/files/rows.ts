import { z } from 'zod';
import type { Task, TestSuite } from '../../core/task.js';

/** What a row is not, in words; `readTaskFile` adds file and line. */
export class RowError extends Error {}

/** Deepest nesting of a row; deeper values could not cross into the sandbox either. */
const MAX_DEPTH = 200;

/** A name, or names joined by dots as in `Solution.solve`, as all our languages write them. */
const entryPoint = z
  .string()
  .regex(
    /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*(\.[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)*$/u,
    'not the name of a function',
  );

const call = z.strictObject({ args: z.array(z.json()), expected: z.json() });

/** Our own row format: a `Task` (docs/tasks.md). */
const taskRow = z.strictObject({
  version: z.literal(1),
  id: z.string().min(1),
  language: z.string().min(1),
  description: z.string(),
  entryPoint,
  prompt: z.string().min(1),
  visible: z.array(call),
  hidden: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('calls'), cases: z.array(call).min(1) }),
    z.strictObject({ kind: z.literal('asserts'), source: z.string().min(1) }),
  ]),
  reference: z.string().optional(),
  difficulty: z.int().min(1).optional(),
});

/** HumanEval (Chen et al. 2021) and HumanEval-X (Zheng et al. 2023), and sets that keep their columns. */
const humanEvalRow = z.looseObject({
  task_id: z.string().min(1),
  prompt: z.string().min(1),
  test: z.string().min(1),
  entry_point: entryPoint.optional(),
  canonical_solution: z.string().nullish(),
  declaration: z.string().optional(),
  description: z.string().optional(),
  text: z.string().optional(),
  docstring: z.string().optional(),
  language: z.string().optional(),
  test_setup: z.string().optional(),
});

/** MBPP (Austin et al. 2021), full and sanitized. */
const mbppRow = z.looseObject({
  task_id: z.union([z.int(), z.string().min(1)]),
  text: z.string().optional(),
  prompt: z.string().optional(),
  code: z.string().min(1),
  test_list: z.array(z.string().min(1)).min(1),
  test_setup_code: z.string().optional(),
  test_imports: z.array(z.string()).optional(),
  challenge_test_list: z.array(z.string()).optional(),
});

/** A path as in `hidden.cases[0].args`. */
function fieldOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => text + (typeof part === 'number' ? `[${part}]` : text === '' ? String(part) : `.${String(part)}`),
    '',
  );
}

interface Nested {
  readonly value: unknown;
  readonly key: PropertyKey;
  readonly parent: Nested | undefined;
  readonly depth: number;
}

/** The field of a parsed row that is nested too deeply to walk by recursion, in words; undefined where there is none. */
export function tooDeep(row: unknown): string | undefined {
  const waiting: Nested[] = [{ value: row, key: '', parent: undefined, depth: 0 }];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { value, depth } = at;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) {
      const path: PropertyKey[] = [];
      for (let up: Nested = at; up.parent !== undefined; up = up.parent) path.unshift(up.key);
      // The field, rather than two hundred brackets.
      const named = path.findIndex((part) => part === 'args' || part === 'expected');
      return `${fieldOf(path.slice(0, Math.max(1, named + 1)))}: nested too deeply (more than ${MAX_DEPTH} levels)`;
    }
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [key, item] of entries) waiting.push({ value: item, key, parent: at, depth: depth + 1 });
  }
  return undefined;
}

function check<T>(schema: z.ZodType<T>, row: unknown): T {
  const result = schema.safeParse(row);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => {
    const field = fieldOf(path);
    return field === '' ? message : `${field}: ${message}`;
  });
  throw new RowError(problems.slice(0, 3).join('; '));
}

/** Languages by the prefix of a HumanEval-X `task_id`. */
const prefixes: Readonly<Record<string, string>> = {
  HumanEval: 'python',
  Python: 'python',
  JavaScript: 'javascript',
  CPP: 'cpp',
  Go: 'go',
  Java: 'java',
  Rust: 'rust',
};

const declarations: Readonly<Record<string, RegExp>> = {
  python: /^\s*(?:async\s+)?def\s+(\w+)/gm,
  javascript: /^(?:export\s+)?(?:const|let|var|async function|function)\s+(\w+)/gm,
  typescript: /^(?:export\s+)?(?:const|let|var|async function|function)\s+(\w+)/gm,
  go: /^func\s+(\w+)/gm,
  rust: /^(?:pub\s+)?fn\s+(\w+)/gm,
};

/** The function that a declaration opens: the last one declared, as helpers come first. */
function entryPointOf(declaration: string, language: string): string {
  const pattern = declarations[language];
  const declared = pattern === undefined ? [] : [...declaration.matchAll(pattern)];
  const named = declaration
    .split('\n')
    .reverse()
    .map((line) => /(\w+)\s*\(/.exec(line)?.[1]);
  const name = declared.at(-1)?.[1] ?? named.find((found) => found !== undefined);
  if (name === undefined)
    throw new RowError('no entry_point, and no function is declared in the declaration or prompt');
  return name;
}

/** The words of a prompt: its last docstring or block comment, or all of it. */
function descriptionIn(prompt: string): string {
  const blocks = [...prompt.matchAll(/"""([\s\S]*?)"""|'''([\s\S]*?)'''|\/\*([\s\S]*?)\*\//g)];
  const last = blocks.at(-1);
  const text = last === undefined ? prompt : (last[1] ?? last[2] ?? last[3] ?? '');
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}

function fromHumanEval(row: unknown): Task {
  const r = check(humanEvalRow, row);
  const prefix = /^[^/]+/.exec(r.task_id)?.[0] ?? '';
  const language = r.language ?? (Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined);
  if (language === undefined) {
    throw new RowError(`task_id "${r.task_id}" names no known language (${Object.keys(prefixes).join(', ')})`);
  }
  const entryPoint = r.entry_point ?? entryPointOf(r.declaration ?? r.prompt, language);
  let source = r.test_setup === undefined ? r.test : `${r.test_setup}\n${r.test}`;
  // HumanEval defines `check(candidate)` and leaves the call to the harness; HumanEval-X calls it.
  if (language === 'python' && /^def check\(/m.test(source) && !/^check\(/m.test(source)) {
    source = `${source.trimEnd()}\n\ncheck(${entryPoint})\n`;
  }
  return {
    version: 1,
    id: r.task_id,
    language,
    description: (r.description ?? r.text ?? r.docstring)?.trim() ?? descriptionIn(r.prompt),
    entryPoint,
    prompt: r.prompt,
    visible: [],
    hidden: { kind: 'asserts', source },
    ...(r.canonical_solution ? { reference: r.canonical_solution } : {}),
  };
}

function fromMbpp(row: unknown): Task {
  const r = check(mbppRow, row);
  const text = r.text ?? r.prompt;
  if (text === undefined) throw new RowError('neither "text" nor "prompt" says what to do');
  const code = r.code.replaceAll('\r\n', '\n');
  const defined = [...code.matchAll(/^def\s+(\w+)/gm)].map((match) => match[1] as string);
  const [shown, ...others] = r.test_list as [string, ...string[]];
  const entryPoint = defined.find((name) => new RegExp(`\\b${name}\\s*\\(`).test(shown));
  if (entryPoint === undefined) throw new RowError('test_list[0] calls no function that "code" defines');
  // The first test is shown, as the wording alone gives neither name nor arguments; it is hidden only if it is all there is.
  const hidden = [...others, ...(r.challenge_test_list ?? [])];
  const setup = [...(r.test_imports ?? []), ...(r.test_setup_code ? [r.test_setup_code] : [])];
  const suite: TestSuite = {
    kind: 'asserts',
    source: `${[...setup, ...(hidden.length > 0 ? hidden : [shown])].join('\n')}\n`,
  };
  const comments = [text.trim(), shown.trim()].flatMap((part) => part.split('\n').map((line) => `# ${line.trim()}\n`));
  return {
    version: 1,
    id: `MBPP/${r.task_id}`,
    language: 'python',
    description: text.trim(),
    entryPoint,
    prompt: `# python\n${comments.join('')}`,
    visible: [],
    hidden: suite,
    reference: code,
  };
}

/** A task from one row of any format that we read; the format is told from its fields. Errors: `RowError`. */
export function taskFromRow(row: unknown): Task {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw new RowError(
      `expected an object, found ${Array.isArray(row) ? 'a list' : row === null ? 'null' : typeof row}`,
    );
  }
  // Optional fields come out of zod as `T | undefined`; JSON has no `undefined`, so they are absent.
  if ('version' in row) return check(taskRow, row) as Task;
  if ('test_list' in row) return fromMbpp(row);
  if ('task_id' in row) return fromHumanEval(row);
  const fields = Object.keys(row);
  throw new RowError(
    `neither a task ("version": 1) nor a HumanEval or MBPP row ("task_id"); its fields are: ${fields.slice(0, 8).join(', ') || 'none'}`,
  );
}
