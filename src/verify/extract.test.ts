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

test.each([[''], [' \n\t'], ['```\n```'], ['```js\n  \n```'], ['```']])('nothing to run in %j', (completion) => {
  expect(extractProgram(task, completion)).toBeNull();
});
