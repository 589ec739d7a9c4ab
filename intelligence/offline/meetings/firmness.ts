/**
 * How likely a candidate is a task that is left after the meeting: a logistic model over a few signs. Its weights are in
 * firmness.json, which `npm run calibrate -- meetings FOLDER` makes from meetings with labels. Pure.
 */
import type { Form } from './patterns.ts';
import { actionVerbs } from './words.ts';
import { terms } from '../../../models/rules/language/words.ts';

export type Signs = {
  /** The logarithm of the number of sentences in the transcript: the longer it is, the rarer is a task among them. */
  length: number;
  /** Where it was said, from 0 to 1. */
  late: number;
  form: Form;
  named: boolean;
  accepted: boolean;
  due: boolean;
  deed: string;
  quote: string;
  weak: boolean;
  before: readonly string[];
};

const closing =
  /\b(?:next (?:meeting|time)|before (?:the next|we meet)|individual|instructions?|minutes|wrap up|homework|to do)\b/iu;

/** `I'll do it right after this` says when, though no day. */
const afterwards = /\b(?:right|straight|directly|just) after\b|\bafter (?:this|the (?:call|meeting))\b/iu;

export function valuesOf(signs: Signs): number[] {
  const { form, deed, quote } = signs;
  const isLate = Math.max(0, (signs.late - 0.8) * 5);
  const verb = /^\p{L}+/u.exec(deed)?.[0].toLowerCase() ?? '';
  const flag = (value: boolean): number => (value ? 1 : 0);
  return [
    Math.max(0, signs.length - 4),
    isLate,
    isLate * Math.max(0, signs.length - 4),
    flag(form === 'promise'),
    flag(form === 'assignment' || form === 'label'),
    flag(form === 'request'),
    flag(form === 'wish'),
    flag(signs.named),
    flag(signs.accepted),
    flag(signs.due || afterwards.test(quote)),
    Math.min(8, terms(deed).length),
    flag(actionVerbs.has(verb)),
    flag(/\byou\b/iu.test(deed)),
    flag(signs.weak),
    flag([...signs.before.slice(-4), quote].some((text) => closing.test(text))),
    flag(/\b(?:designer|expert|manager|engineer|lead|executive|specialist|developer)\b/iu.test(quote)),
    flag(/\b(?:working|thinking|looking|focused|focus|work) (?:on|about|at|into)\b/iu.test(quote)),
  ];
}

/** A fitted model; `threshold`: from which value on something is firm. */
export type Firmness = { intercept: number; weights: readonly number[]; threshold: number };

export const firmnessOf = (signs: Signs, { intercept, weights }: Firmness): number =>
  valuesOf(signs).reduce((sum, value, at) => sum + value * weights[at]!, intercept);

/** After three tasks of a long talk each further one must be firmer; a short meeting is not held to that. */
const before = 3;
const step = 0.7;
const longTalk = Math.log(300);

/** What a candidate needs, of one that `nth` others are likelier than. */
export const neededFor = (nth: number, length: number, { threshold }: Firmness): number =>
  threshold + (length > longTalk ? step * Math.max(0, nth + 1 - before) : 0);
