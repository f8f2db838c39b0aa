import { expect, test } from 'vitest';
import { extractProgram } from './extract.js';

const task = { prompt: 'function solve(x) {\n', entryPoint: 'solve' };

test.each([
  ['a continuation', '  return x;\n}', 'function solve(x) {\n  return x;\n}'],
  ['a fenced program', 'Sure:\n```js\nfunction solve(x) { return x; }\n```\nDone.', 'function solve(x) { return x; }'],
  ['a tilde fence', '~~~\nconst solve = 1;\n~~~', 'const solve = 1;'],
  ['a fence cut off by the token limit', '```js\nfunction solve(x) {\n  return', 'function solve(x) {\n  return'],
  [
    'the block that names the entry point',
    '```sh\nnpm i\n```\n```js\nconst solve = 2;\n```\n```js\nsolve(1)\n```',
    'const solve = 2;',
  ],
  ['a block that holds the body only', '```\n  return x;\n}\n```', 'function solve(x) {\n  return x;\n}'],
  ['a lone closing fence', '  return x;\n}\n```\nThis returns x.', 'function solve(x) {\n  return x;\n}'],
  ['a longer fence round a shorter', '````\nconst solve = "\\n```\\n";\n```\n````', 'const solve = "\\n```\\n";\n```'],
  ['backticks within a line', '  return "```" + x;\n}', 'function solve(x) {\n  return "```" + x;\n}'],
])('%s', (_name, completion, program) => {
  expect(extractProgram(task, completion)).toBe(program);
});

test.each([
  ['filter', '  return xs.filter((x) => x > 0);\n}'],
  ['if and of', '  for (const x of xs) if (x) return x;\n}'],
  ['a call of itself', '  return xs.length ? f(xs.slice(1)) : 0;\n}'],
  ['a comparison with itself', '  return xs == f || f === xs ? f : (f);\n}'],
  ['a function whose name begins alike', '  const f1 = (x) => x, $f = 2, o = {}; o.f = f1;\n  return xs.map(f1);\n}'],
])('a body that holds %s was taken for a declaration of f, and the prompt dropped', (_name, body) => {
  const short = { prompt: 'function f(xs) {\n', entryPoint: 'f' };
  expect(extractProgram(short, `\`\`\`js\n${body}\n\`\`\``)).toBe(short.prompt + body);
});

test.each([
  ['f', 'function f(x) { return x; }'],
  ['f', 'async function* f(x) { yield x; }'],
  ['f', 'export const f = (x) => x;'],
  ['f', 'const a = 1,\n  f = (x) => x;'],
  ['f', 'f = x => x;'],
  ['f', 'exports.f = (x) => x;'],
  ['f', "module.exports = { 'f': (x) => x };"],
  ['größe', 'const größe = (x) => x;'],
  ['$', 'var $ = (x) => x;'],
  ['f', 'def f(x):\n    return x'],
  ['Solution.f', 'class Solution {\n  static f(x) { return x; }\n}'],
  ['Solution.f', 'const Solution = {};\nSolution.f = (x) => x;'],
])('%s is declared by %j', (entryPoint, block) => {
  expect(extractProgram({ prompt: 'PROMPT', entryPoint }, `\`\`\`\n${block}\n\`\`\``)).toBe(block);
});

test.each([[''], [' \n\t'], ['```\n```'], ['```js\n  \n```'], ['```']])('nothing to run in %j', (completion) => {
  expect(extractProgram(task, completion)).toBeNull();
});

// 200,000 characters that took the square of their number would take minutes; the test's own time limit is the bound.
test.each([
  ['~', '`'],
  ['```', 'x`'],
  ['~~~ ', '`'],
  ['~~~\n', ''],
  ['```\n', ''],
  [' ', '`'],
  ['\t', '~~~`'],
  ['```js\n', '`'],
  ['```\nf ', ''],
  ['f =', '='],
  ['f ', ':'],
  ['exports. ', 'f'],
  ['.\t', 'f='],
  [',', 'f'],
  ['const ', 'g'],
  ['function*', ''],
  ['f(', ')'],
])('long runs of %j cost no more than their length', (piece, end) => {
  for (const start of ['', '```\n', '```\nconst ', '```\nexports.', '```\n{ f']) {
    const spaces = ' '.repeat(200_000);
    const text = start + piece.repeat(200_000 / piece.length) + end;
    for (const entryPoint of ['f', 'S.f']) {
      expect(extractProgram({ prompt: 'p', entryPoint }, text)).not.toBe('');
      expect(extractProgram({ prompt: 'p', entryPoint }, `${start}${piece}${spaces}${end}`)).not.toBe('');
    }
  }
});
