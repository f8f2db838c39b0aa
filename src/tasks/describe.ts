import type { Stream } from '../core/seeds.js';
import { phrases } from './phrases.js';
import type { Spec, Type } from './spec.js';

const nouns: Readonly<Record<Type, string>> = {
  int: 'a number',
  ints: 'a list of numbers',
  str: 'a string',
  strs: 'a list of words',
  bool: 'a boolean',
  dict: 'a dictionary',
};

const joints = [', then ', ', and then ', '; then ', '. Then ', ', '] as const;
const lastJoints = [', then ', ' and ', ', and ', ', and then ', '. Finally, ', '. Then '] as const;

/** A description of the spec in words; which of the many wordings is up to the stream. */
export function describe(spec: Spec, random: Stream): string {
  const orders = spec.steps.map(({ op, k }) => {
    const { say, when } = phrases[op];
    const choices = (k === undefined ? undefined : when?.[k]) ?? say;
    return random.pick(choices).replaceAll('{k}', String(k));
  });
  const opener = random.next();
  let text = opener < 0.12 ? `Given ${nouns[spec.input]}, ` : opener < 0.2 ? `Take ${nouns[spec.input]}. ` : '';
  // One joint for the whole sentence reads better than a new one each time.
  const joint = random.pick(joints);
  const lastJoint = random.pick(lastJoints);
  orders.forEach((order, i) => {
    if (i > 0) text += i === orders.length - 1 ? lastJoint : joint;
    text += /(^|\. )$/.test(text) ? order.charAt(0).toUpperCase() + order.slice(1) : order;
  });
  return `${text}.`;
}
