import type { Language } from '../../core/task.js';
import type { Value } from '../../core/value.js';
import { type OpName, ops } from '../ops.js';
import type { Data, Spec, Type } from '../spec.js';

/**
 * How tightly an expression holds together; an operand that is looser than its place is put in parentheses.
 * `atom` takes a `.method` or an index directly.
 */
export type Binding = 'loose' | 'sum' | 'product' | 'atom';

const rank: Readonly<Record<Binding, number>> = { loose: 0, sum: 1, product: 2, atom: 3 };

/**
 * One way to write one operation. Text with places: `$e` the operand as an atom, `$m` as a factor, `$a` as a summand,
 * `$x` as it is, `$v` the operand in a variable, `$c` a list that may be changed in place, `$k` the constant,
 * `$r` the variable named by `name`. A string is a template whose result is an atom.
 */
export type Template =
  | string
  | {
      readonly result: string;
      readonly binding?: Binding;
      /** Statements before the expression. */
      readonly lines?: readonly string[];
      /** Name of the variable `$r`. */
      readonly name?: string;
    };

/** A language that tasks render in: its syntax and one or more templates for each operation, the plainest first. */
export interface TaskLanguage {
  readonly id: Language;
  /** Begins a comment line. */
  readonly comment: string;
  /** Variable names by type; the first names the parameter. */
  readonly names: Readonly<Record<Type, readonly string[]>>;
  /** Opens the function, up to and with the newline before its body. */
  open(entryPoint: string, parameter: string): string;
  /** What follows the body. */
  readonly close: string;
  readonly indent: string;
  literal(value: Value): string;
  assign(name: string, expression: string): string;
  give(expression: string): string;
  /** A list expression that may be changed in place, for a list held by a variable. */
  copy(name: string): string;
  /** Whether a new value of the same type takes the old one's name. */
  readonly rebinds: boolean;
  readonly templates: Readonly<Record<OpName, readonly Template[]>>;
}

/** Choices of style: which template of `n`, and whether to name an intermediate value. */
export interface Style {
  template(n: number): number;
  name(): boolean;
}

/** The plainest program: first templates, no variable that is not needed. */
export const plainStyle: Style = { template: () => 0, name: () => false };

interface Expression {
  readonly text: string;
  readonly binding: Binding;
  /** A bare variable. */
  readonly variable: boolean;
}

/** The body of the function that computes `spec`, ready to follow `open`: a completion. */
export function renderBody(language: TaskLanguage, spec: Spec, style: Style = plainStyle): string {
  const lines: string[] = [];
  const parameter = language.names[spec.input][0] as string;
  const taken = new Set([parameter]);

  const fresh = (candidates: readonly string[]): string => {
    for (let round = 1; ; round++) {
      for (const candidate of candidates) {
        const name = round === 1 ? candidate : candidate + round;
        if (!taken.has(name)) {
          taken.add(name);
          return name;
        }
      }
    }
  };
  const held = (type: Type, value: Expression): Expression => {
    if (value.variable) return value;
    const names = language.names[type];
    const name = language.rebinds ? (names[0] as string) : fresh(names);
    taken.add(name);
    lines.push(language.assign(name, value.text));
    return { text: name, binding: 'atom', variable: true };
  };

  let value: Expression = { text: parameter, binding: 'atom', variable: true };
  spec.steps.forEach((step, at) => {
    const op = ops[step.op];
    const choices = language.templates[step.op];
    const chosen = choices[style.template(choices.length)] as Template;
    const template = typeof chosen === 'string' ? { result: chosen } : chosen;
    const all = [...(template.lines ?? []), template.result];
    if (all.some((text) => text.includes('$v'))) value = held(op.from, value);
    const operand = value;
    const result = template.name === undefined ? '' : fresh([template.name]);
    const as = (binding: Binding): string =>
      rank[operand.binding] < rank[binding] ? `(${operand.text})` : operand.text;
    const fill = (text: string): string =>
      text.replace(/\$([emaxvckr])/g, (_, place: string) => {
        switch (place) {
          case 'e':
            return as('atom');
          case 'm':
            return as('product');
          case 'a':
            return as('sum');
          case 'c':
            return operand.variable ? language.copy(operand.text) : as('atom');
          case 'k':
            return language.literal(step.k ?? 0);
          case 'r':
            return result;
          default:
            return operand.text;
        }
      });
    for (const line of template.lines ?? []) lines.push(fill(line));
    value = {
      text: fill(template.result),
      binding: template.binding ?? 'atom',
      variable: template.result === '$r',
    };
    if (at < spec.steps.length - 1 && style.name()) value = held(op.to, value);
  });
  lines.push(language.give(value.text));
  return lines.map((line) => language.indent + line).join('\n') + language.close;
}

/** The prompt of a task: language, description and examples as comments, then the opened function. */
export function renderPrompt(
  language: TaskLanguage,
  entryPoint: string,
  input: Type,
  description: string,
  examples: readonly { readonly input: Data; readonly output: Data }[],
): string {
  const lines = [language.id, description];
  for (const example of examples) {
    lines.push(`${entryPoint}(${language.literal(example.input)}) -> ${language.literal(example.output)}`);
  }
  const comments = lines.map((line) => `${language.comment} ${line}\n`).join('');
  return comments + language.open(entryPoint, language.names[input][0] as string);
}

/** A string between single quotes, escaped as JavaScript and Python both read it. */
export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
