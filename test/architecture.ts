import { posix } from 'node:path';
import { parseSync } from 'vite';

/** A source file by its path from the root of the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The rooms that each room may import from besides itself; a room that is missing here is refused until it is entered. */
const ALLOWED: { readonly [room: string]: readonly string[] | 'all but cli' | 'all' } = {
  core: [],
  reward: ['core'],
  credit: ['core'],
  loss: ['core'],
  policy: ['core'],
  sandbox: ['core'],
  tasks: ['core'],
  rollout: ['core'],
  curriculum: ['core'],
  monitor: ['core'],
  eval: ['core'],
  judge: ['core'],
  memory: ['core'],
  search: ['core'],
  verify: ['core', 'sandbox'],
  serve: 'all but cli',
  app: 'all but cli',
  'index.ts': 'all but cli',
  cli: 'all',
};

/** Where the wall clock may be read: what is shown to people and never recorded. */
const CLOCK_ALLOWED = /^src\/cli\/display\/|\.test\.ts$/;

/**
 * What breaks the house rules, as `FILE:LINE: RULE` lines: imports against the direction of dependencies, and
 * randomness or time from outside the seeded streams (`Math.random`, `Date.now`, `new Date()`).
 * Tests may start the real parts of other rooms, but no test imports the command line from outside of it.
 */
export function violations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const { program, errors } = parseSync(file.path, file.text, { lang: 'ts', sourceType: 'module' });
    if (errors.length > 0) return [`${file.path}: cannot be parsed: ${errors[0]!.message}`];
    const found: string[] = [];
    visit(program, (node) => {
      const broken = brokenRule(file.path, node);
      if (broken !== undefined) found.push(`${file.path}:${lineOf(file.text, node.start)}: ${broken}`);
    });
    return found;
  });
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function visit(value: unknown, each: (node: Node) => void, assigned?: unknown): void {
  if (Array.isArray(value)) for (const item of value) visit(item, each);
  if (!isNode(value)) return;
  // A target is no use: a sandbox may replace Date.now by a fixed answer.
  if (value !== assigned) each(value);
  const target = value.type === 'AssignmentExpression' ? value.left : undefined;
  for (const child of Object.values(value)) if (typeof child === 'object') visit(child, each, target);
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

function brokenRule(path: string, node: Node): string | undefined {
  const target = importedPath(node);
  if (target !== undefined) return brokenImport(path, target);
  if (path.endsWith('.test.ts')) return undefined;
  const use = unseededUse(node);
  return use !== undefined && !(use !== 'Math.random' && CLOCK_ALLOWED.test(path))
    ? `${use} makes results unrepeatable; use stream() of src/core/seeds.ts`
    : undefined;
}

/** The relative path that a node imports, re-exports or starts a worker from. */
function importedPath(node: Node): string | undefined {
  const source =
    node.type === 'NewExpression' && nameOf(node.callee) === 'URL' ? (node.arguments as unknown[])[0] : node.source;
  const text = isNode(source) && source.type === 'Literal' ? source.value : undefined;
  return typeof text === 'string' && /^\.\.?\//.test(text) ? text : undefined;
}

function brokenImport(path: string, specifier: string): string | undefined {
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  const from = roomOf(path);
  const to = roomOf(target);
  if (from === to && from !== undefined) return undefined;
  if (to === undefined) return `src imports nothing from outside of it, not ${target}`;
  if (from === undefined) return `${path} is outside of src`;
  if (to === 'cli') return `${from} may not import cli`;
  if (path.endsWith('.test.ts')) return undefined;
  const allowed = ALLOWED[from];
  if (allowed === undefined) return `the room ${from} has no place in the order of dependencies (test/architecture.ts)`;
  if (typeof allowed === 'string' || allowed.includes(to)) return undefined;
  return `${from} may not import ${to}`;
}

/** `core` of `src/core/x.ts`; the file's name for files of src itself; undefined outside of src. */
function roomOf(path: string): string | undefined {
  const [top, room] = path.split('/');
  return top === 'src' ? room?.replace(/\.js$/, '.ts') : undefined;
}

const nameOf = (value: unknown): unknown => (isNode(value) && value.type === 'Identifier' ? value.name : undefined);

function unseededUse(node: Node): string | undefined {
  if (node.type === 'MemberExpression') {
    const use = `${String(nameOf(node.object))}.${String(nameOf(node.property))}`;
    return use === 'Math.random' || use === 'Date.now' ? use : undefined;
  }
  // const { random } = Math
  if (node.type === 'VariableDeclarator' && isNode(node.id) && node.id.type === 'ObjectPattern') {
    const names = (node.id.properties as Node[]).map((property) => nameOf(property.key));
    if (nameOf(node.init) === 'Math' && names.includes('random')) return 'Math.random';
    if (nameOf(node.init) === 'Date' && names.includes('now')) return 'Date.now';
  }
  if (node.type === 'NewExpression' && nameOf(node.callee) === 'Date' && (node.arguments as unknown[]).length === 0)
    return 'new Date()';
  return undefined;
}
