/**
 * What can be told from trusted JavaScript test code by looking at its text. Nothing here reads a program. It is not a
 * parser: where it is wrong (say, about a template within a template), test code is run as if it had not looked.
 */

/** Comments, then strings, templates and regular expressions: no place for a call. */
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;
const LITERAL =
  /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[(,=:[!&|?{};]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/;
const SKIPPED = new RegExp(`(${COMMENT.source})|${LITERAL.source}`, 'g');

/** The source with a space for each character of a comment and a 0 for each of a literal; lines stay lines. */
function blank(source: string): string {
  return source.replace(SKIPPED, (text, comment) => text.replace(/[^\n]/g, comment === undefined ? '0' : ' '));
}

/** What a statement may stand behind, `await` aside: nothing, a brace, a semicolon, `if (…)`, or the end of a line. */
const BEFORE = /(?:^|[;{})]|\b(?:else|do)|[\w$\]][ \t]*\n)\s*(?:(?:await|void)\s+)?$/;
const NO_STATEMENT = /\b(?:return|case|typeof|new|delete|throw|yield|in|of|instanceof|extends|await|void)\s*$/;
/** A call that shall throw returns nothing to throw away. */
const SHALL_THROW =
  /(?:throws|rejects|doesNotThrow)\s*\((?:[^(){}]|\([^(){}]*\))*\{\s*(?:await\s+)?$|\btry\s*\{\s*(?:await\s+)?$/;
/** What ends it: a semicolon, a brace, or a line that does not go on with the expression. */
const AFTER = /^[ \t]*(?:[;}]|$|\n\s*(?:$|[^\s.?([`+\-*/%,<>=&|^:)\]]))/;

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Where the bracket at `open` closes; undefined where it does not. */
function closing(code: string, open: number): number | undefined {
  const [opens, closes] = code[open] === '(' ? '()' : '{}';
  let depth = 0;
  for (let i = open; i < code.length; i++) {
    if (code[i] === opens) depth++;
    else if (code[i] === closes && --depth === 0) return i;
  }
  return undefined;
}

/**
 * Whether test code judges the entry point by what it does to its arguments: somewhere it throws away what a call
 * returns and names one of the call's arguments again later, as in `sortInPlace(xs); assert.deepEqual(xs, [1, 2])`, or
 * it says so in a comment, `// @in-place`. This is decided by the trusted test code alone. It cannot hold for all: in
 * `poly(xs, findZero(xs)) === 0` a program that may change `xs` need not find any zero.
 */
export function judgesArguments(source: string, entryPoint: string): boolean {
  if (/\/[/*]\s*@in-place\b/.test(source)) return true;
  const code = blank(source);
  const entry = escapeRegExp(entryPoint);
  const aliases = [...code.matchAll(new RegExp(String.raw`([\w$]+)\s*=\s*${entry}\s*(?=[;,\n]|$)`, 'g'))];
  const names = [entry, 'candidate', ...aliases.map((match) => escapeRegExp(match[1] as string))];
  for (const match of code.matchAll(new RegExp(String.raw`(?<![\w$.])(?:${names.join('|')})\s*\(`, 'g'))) {
    const open = match.index + match[0].length - 1;
    const close = closing(code, open);
    if (close === undefined) continue;
    const args = code.slice(open + 1, close);
    const before = code.slice(0, match.index);
    const after = code.slice(close + 1);
    if (!BEFORE.test(before) || NO_STATEMENT.test(before.replace(/(?:await|void)\s+$/, ''))) continue;
    if (!AFTER.test(after) || SHALL_THROW.test(before)) continue;
    const variables = args.match(/(?<![\w$.])[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? [];
    if (variables.some((name) => new RegExp(`(?<![\\w$.])${escapeRegExp(name)}(?![\\w$])`).test(after))) return true;
  }
  return false;
}

interface Insert {
  readonly at: number;
  readonly text: string;
}

function insertAll(source: string, inserts: readonly Insert[]): string {
  let out = source;
  for (const { at, text } of [...inserts].sort((a, b) => b.at - a.at)) out = out.slice(0, at) + text + out.slice(at);
  return out;
}

/** Whether test code evaluates text as code, which could be what a program has answered. */
export function evaluatesText(source: string, entryPoint: string): boolean {
  const calls = blank(source).matchAll(/(?<![\w$.])(?:new\s+)?(eval|Function)\s*\(/g);
  return [...calls].some((match) => match[1] !== entryPoint);
}

/** Whether test code uses the assertions that are counted: `console.assert`, `assert` unless it defines its own, a module. */
export function usesAssertions(source: string): boolean {
  const code = blank(source);
  if (/console\s*\.\s*assert|require\s*\(\s*['"`](?:node:)?assert/.test(code + source)) return true;
  const own = /\bfunction\s+assert\b|\b(?:const|let|var)\s+assert\s*=/.test(code);
  return !own && /(?<![\w$])assert(?![\w$])/.test(code);
}

/**
 * Test code in the style of `if (solve(1) !== 2) throw new Error('…')`, with the condition of each such statement
 * handed to `hook`, a global function that returns it: as with assertions, what was never reached is not passed.
 * Undefined where there is no such statement.
 */
export function countThrows(source: string, hook: string): string | undefined {
  const code = blank(source);
  const inserts: Insert[] = [];
  for (const match of code.matchAll(/(?<![\w$.])if\s*\(/g)) {
    const open = match.index + match[0].length - 1;
    const close = closing(code, open);
    if (close === undefined || !/^\s*(?:\{[^{}]*)?\bthrow\b/.test(code.slice(close + 1))) continue;
    inserts.push({ at: open + 1, text: `${hook}(` }, { at: close, text: ')' });
  }
  return inserts.length === 0 ? undefined : insertAll(source, inserts);
}

/** An asynchronous function up to its parameters, or up to the arrow after a lone one. */
const ASYNC = /(?<![\w$.])async(?:[ \t]+function\b\s*\*?\s*[\w$]*|[ \t]*\*?[ \t]*[\w$#]*)[ \t]*(?:(?=\()|=>)/g;

/**
 * The test code with every asynchronous function's body in a `try` that hands what it throws to `hook`, a global
 * function, and throws on what that returns. An error in such a function is lost when nobody awaits it, as in
 * `main(); other();`; without a trace of it the assertions that were never reached would seem not to exist.
 */
export function hookAsyncErrors(source: string, hook: string): string {
  const code = blank(source);
  const inserts: Insert[] = [];
  for (const match of code.matchAll(ASYNC)) {
    let at = match.index + match[0].length;
    if (code[at] === '(') at = (closing(code, at) ?? code.length) + 1;
    const open = /^\s*(?:=>)?\s*\{/.exec(code.slice(at));
    if (open === null) continue;
    at += open[0].length;
    const end = closing(code, at - 1);
    if (end === undefined) continue;
    inserts.push({ at, text: 'try{' }, { at: end, text: `}catch($error){throw ${hook}($error)}` });
  }
  return insertAll(source, inserts);
}
