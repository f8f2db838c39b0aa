import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { HoneError } from '../../core/error.js';
import type { Task } from '../../core/task.js';
import { synthTasks } from '../synth.js';
import { readTaskFile } from './read.js';
import { taskLine, writeTaskFile } from './write.js';

const folder = mkdtempSync(join(tmpdir(), 'hone-tasks-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileWith(content: string | Uint8Array, name = `tasks-${files++}.jsonl`): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** The error of reading, with the folder cut out of its message. */
function failure(path: string, options = {}): { code: string; message: string } {
  try {
    readTaskFile(path, options);
  } catch (error) {
    if (!(error instanceof HoneError)) throw error;
    expect(error.hint).not.toBe('');
    return { code: error.code, message: error.message.replaceAll(folder, '.') };
  }
  throw new Error('expected a failure');
}

const task: Task = {
  version: 1,
  id: 'add-one',
  language: 'javascript',
  description: 'Add one.',
  entryPoint: 'f',
  prompt: '// Add one.\nfunction f(n) {\n',
  visible: [{ args: [1], expected: 2 }],
  hidden: { kind: 'calls', cases: [{ args: [0], expected: 1 }] },
  reference: '  return n + 1;\n}',
  difficulty: 1,
};
const line = taskLine(task);
const withId = (id: string): string => taskLine({ ...task, id });

test('generated tasks survive writing and reading, plain and gzipped', () => {
  const tasks = synthTasks({ seed: 4, split: 'train', language: 'python', difficulty: [1, 5], count: 50 });
  const plain = tasks.map(({ spec: _, ...rest }) => rest);
  for (const name of ['round.jsonl', 'round.jsonl.gz']) {
    writeTaskFile(join(folder, name), tasks);
    expect(readTaskFile(join(folder, name))).toEqual({ tasks: plain, skipped: [], problems: [] });
  }
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('asserts tasks, CRLF, blank lines and a byte order mark are read', () => {
  const asserts: Task = { ...task, id: 'b', hidden: { kind: 'asserts', source: 'console.assert(f(0) === 1)' } };
  const path = fileWith(`\uFEFF${line.trimEnd()}\r\n\r\n${taskLine(asserts)}\n\n`);
  expect(readTaskFile(path).tasks).toEqual([task, asserts]);
});

const humanEval = {
  task_id: 'HumanEval/1000',
  prompt: '\n\ndef half(n):\n    """ Halve n.\n    >>> half(4)\n    2\n    """\n',
  entry_point: 'half',
  canonical_solution: '    return n // 2\n',
  test: '\n\ndef check(candidate):\n    assert candidate(4) == 2\n',
};

test('HumanEval rows are read; the check is called', () => {
  const [read] = readTaskFile(fileWith(JSON.stringify(humanEval))).tasks;
  expect(read).toEqual({
    version: 1,
    id: 'HumanEval/1000',
    language: 'python',
    description: 'Halve n.\n>>> half(4)\n2',
    entryPoint: 'half',
    prompt: humanEval.prompt,
    visible: [],
    hidden: { kind: 'asserts', source: '\n\ndef check(candidate):\n    assert candidate(4) == 2\n\ncheck(half)\n' },
    reference: '    return n // 2\n',
  });
});

test('HumanEval-X rows are read; the entry point is the last function declared', () => {
  const row = {
    task_id: 'JavaScript/1000',
    prompt: 'const helper = (n) => {\n  return n;\n}\n\n/* Halve n.\n  */\nconst half = (n) => {\n',
    declaration: 'const helper = (n) => {\n  return n;\n}\n\nconst half = (n) => {\n',
    canonical_solution: '  return helper(n) / 2;\n}\n\n',
    test: 'const testHalf = () => {\n  console.assert(half(4) === 2)\n}\n\ntestHalf()\n',
    example_test: 'half(4)',
  };
  const [read] = readTaskFile(fileWith(JSON.stringify(row))).tasks;
  expect(read).toMatchObject({
    language: 'javascript',
    entryPoint: 'half',
    description: 'Halve n.',
    prompt: row.prompt,
    hidden: { kind: 'asserts', source: row.test },
  });
});

test.each([
  ['Python/1', 'def half(n: int) -> int:\n', 'python'],
  ['Go/1', '\nfunc half(n int) int {\n', 'go'],
  ['Rust/1', '\nfn half(n:i32) -> i32{\n', 'rust'],
  ['Java/1', 'class Solution {\n    public int half(int n) {\n', 'java'],
  ['CPP/1', '#include<math.h>\nusing namespace std;\nint half(int n){\n', 'cpp'],
])('the language and entry point of %s are found', (task_id, declaration, language) => {
  const row = { task_id, prompt: declaration, declaration, canonical_solution: null, test: 'half(4);' };
  const [read] = readTaskFile(fileWith(JSON.stringify(row))).tasks;
  expect(read).toMatchObject({ language, entryPoint: 'half' });
  expect(read).not.toHaveProperty('reference');
});

test('MBPP rows are read; the first test is shown and the others are hidden', () => {
  const row = {
    task_id: 7,
    text: 'Write a function to halve n.',
    code: 'def helper(n):\r\n  return n\r\ndef half(n):\r\n  return helper(n) // 2',
    test_setup_code: 'import math',
    test_list: ['assert half(4) == 2', 'assert half(5) == 2'],
    challenge_test_list: ['assert half(0) == 0'],
  };
  const [read] = readTaskFile(fileWith(JSON.stringify(row))).tasks;
  expect(read).toMatchObject({
    id: 'MBPP/7',
    language: 'python',
    entryPoint: 'half',
    prompt: '# python\n# Write a function to halve n.\n# assert half(4) == 2\n',
    hidden: { kind: 'asserts', source: 'import math\nassert half(5) == 2\nassert half(0) == 0\n' },
  });
});

test('a broken line is named with its file, line and fault', () => {
  const cases: Record<string, string> = {
    json: `${line}{"version":1,\n`,
    field: taskLine({ ...task, entryPoint: '' }),
    missing: JSON.stringify({ version: 1, id: 'x' }),
    version: JSON.stringify({ ...task, version: 2 }),
    unknown: JSON.stringify({ ...task, tests: [] }),
    noTests: taskLine({ ...task, hidden: { kind: 'calls', cases: [] } }),
    nested: JSON.stringify({ ...task, hidden: { kind: 'calls', cases: [{ args: [0] }] } }),
    list: '[1, 2]',
    format: JSON.stringify({ question: 'why', answer: 42 }),
    language: JSON.stringify({ ...humanEval, task_id: 'Cobol/1' }),
    humanEval: JSON.stringify({ ...humanEval, test: undefined }),
    mbpp: JSON.stringify({ task_id: 1, text: 'Halve.', code: 'x = 1', test_list: ['assert half(2) == 1'] }),
    duplicate: withId('a') + withId('b') + withId('a'),
    several: `${line}x\ny\nz\n`,
  };
  const messages = Object.fromEntries(
    Object.entries(cases).map(([name, content]) => {
      const { code, message } = failure(fileWith(content, `${name}.jsonl`));
      expect(code).toBe('bad_task_line');
      // What the JSON parser says differs between versions of Node.
      return [name, message.replace(/not JSON: .*?(?= \(and|$)/, 'not JSON: …')];
    }),
  );
  expect(messages).toMatchInlineSnapshot(`
    {
      "duplicate": "./duplicate.jsonl:3: id "a" was already used on line 1",
      "field": "./field.jsonl:1: entryPoint: not the name of a function",
      "format": "./format.jsonl:1: neither a task ("version": 1) nor a HumanEval or MBPP row ("task_id"); its fields are: question, answer",
      "humanEval": "./humanEval.jsonl:1: test: Invalid input: expected string, received undefined",
      "json": "./json.jsonl:2: not JSON: …",
      "language": "./language.jsonl:1: task_id "Cobol/1" names no known language (HumanEval, Python, JavaScript, CPP, Go, Java, Rust)",
      "list": "./list.jsonl:1: expected an object, found a list",
      "mbpp": "./mbpp.jsonl:1: test_list[0] calls no function that "code" defines",
      "missing": "./missing.jsonl:1: language: Invalid input: expected string, received undefined; description: Invalid input: expected string, received undefined; entryPoint: Invalid input: expected string, received undefined",
      "nested": "./nested.jsonl:1: hidden.cases[0].expected: Invalid input",
      "noTests": "./noTests.jsonl:1: hidden.cases: Too small: expected array to have >=1 items",
      "several": "./several.jsonl:2: not JSON: … (and 2 more broken lines: 3, 4)",
      "unknown": "./unknown.jsonl:1: Unrecognized key: "tests"",
      "version": "./version.jsonl:1: version: Invalid input: expected 1",
    }
  `);
});

test('skipping leaves the broken lines out and says which', () => {
  const path = fileWith(`${withId('a')}oops\n${withId('b')}${withId('a')}`, 'skip.jsonl');
  const { tasks, skipped, problems } = readTaskFile(path, { onBadLine: 'skip' });
  expect(tasks.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(skipped).toEqual([2, 4]);
  expect(problems.map((p) => p.replace(folder, '.'))[1]).toBe('./skip.jsonl:4: id "a" was already used on line 1');
});

test('values nested thousands deep ended reading with an internal error', () => {
  const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const row = (args: string, expected: string): string =>
    line.replace('"hidden":{"kind":"calls","cases":[{"args":[0],"expected":1}]}', () => {
      return `"hidden":{"kind":"calls","cases":[{"args":${args},"expected":${expected}}]}`;
    });
  const deep = 'nested too deeply (more than 200 levels)';
  const messages = [
    row('[0]', nest(20_000)),
    row(nest(20_000), '1'),
    `${JSON.stringify(humanEval).slice(0, -1)},"extra":${nest(200_000)}}`,
    nest(20_000),
  ].map((text) => failure(fileWith(text, 'deep.jsonl')));
  expect(messages.map(({ message }) => message)).toEqual([
    `./deep.jsonl:1: hidden.cases[0].expected: ${deep}`,
    `./deep.jsonl:1: hidden.cases[0].args: ${deep}`,
    `./deep.jsonl:1: extra: ${deep}`,
    `./deep.jsonl:1: [0]: ${deep}`,
  ]);
  const mixed = fileWith(withId('a') + row('[0]', nest(20_000)) + row('[0]', nest(150)));
  const { tasks, skipped } = readTaskFile(mixed, { onBadLine: 'skip' });
  expect(tasks.map(({ id }) => id)).toEqual(['a', 'add-one']);
  expect(skipped).toEqual([2]);
});

test.each(['a b', 'f;throw 1', 'f()', '1f', 'f.', '.f', 'f\n', '[0]'])(
  'an entry point that is no name was taken for one: %j',
  (entryPoint) => {
    expect(failure(fileWith(taskLine({ ...task, entryPoint }), 'name.jsonl')).message).toBe(
      './name.jsonl:1: entryPoint: not the name of a function',
    );
    const row = JSON.stringify({ ...humanEval, entry_point: entryPoint });
    expect(failure(fileWith(row, 'name.jsonl')).message).toBe(
      './name.jsonl:1: entry_point: not the name of a function',
    );
    const path = fileWith(taskLine({ ...task, entryPoint }) + withId('b'));
    expect(readTaskFile(path, { onBadLine: 'skip' })).toMatchObject({ tasks: [{ id: 'b' }], skipped: [1] });
  },
);

test.each(['f', '$', 'größe', 'Solution.solve', '_a1'])('%s is the name of a function', (entryPoint) => {
  expect(readTaskFile(fileWith(taskLine({ ...task, entryPoint }))).tasks).toEqual([{ ...task, entryPoint }]);
});

test('a line that is not UTF-8 is named', () => {
  const path = fileWith(Buffer.concat([Buffer.from(line), Buffer.from([0xff, 0xfe, 0x0a])]), 'bytes.jsonl');
  expect(failure(path).message).toBe('./bytes.jsonl:2: not UTF-8 text');
});

test('a missing file, a folder, an empty file and a damaged gzip are told apart', () => {
  const gz = gzipSync(line.repeat(20));
  expect([
    failure(join(folder, 'nowhere.jsonl')),
    failure(folder),
    failure(fileWith('', 'empty.jsonl')),
    failure(fileWith('\n\n', 'blank.jsonl')),
    failure(fileWith('x\n', 'rubbish.jsonl'), { onBadLine: 'skip' }).code,
    failure(fileWith(gz.subarray(0, gz.length - 12), 'cut.jsonl.gz')),
  ]).toMatchInlineSnapshot(`
    [
      {
        "code": "not_found",
        "message": "./nowhere.jsonl does not exist",
      },
      {
        "code": "unreadable",
        "message": ". is a folder, a file was expected",
      },
      {
        "code": "no_tasks",
        "message": "./empty.jsonl is empty",
      },
      {
        "code": "no_tasks",
        "message": "./blank.jsonl is empty",
      },
      "no_tasks",
      {
        "code": "bad_gzip",
        "message": "./cut.jsonl.gz is a damaged gzip file: unexpected end of file",
      },
    ]
  `);
});

test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')('an unreadable file is named', () => {
  const path = fileWith(line, 'secret.jsonl');
  chmodSync(path, 0o000);
  expect(failure(path)).toEqual({ code: 'unreadable', message: 'not allowed to read ./secret.jsonl' });
});
