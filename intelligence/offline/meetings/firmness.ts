/**
 * How likely it is that a task candidate is a real task, to be done after the meeting: a logistic model over a few
 * features. `npm run calibrate -- meetings FOLDER` fits the weights in firmness.json to labelled meetings. Pure.
 */
import type { Form } from './patterns.ts';
import { actionVerbs } from './words.ts';
import { terms } from '../../../models/rules/language/words.ts';

export type Signs = {
  /**
   * The logarithm of the transcript's number of sentences: in a longer transcript, a smaller share of sentences are
   * tasks.
   */
  length: number;
  /** The task's position in the transcript, from 0 (start) to 1 (end). */
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

/** `I'll do it right after this` states a time without a day; it counts like a due date. */
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

/** A fitted model. `threshold`: the score from which a task candidate counts as a task. */
export type Firmness = { intercept: number; weights: readonly number[]; threshold: number };

export const firmnessOf = (signs: Signs, { intercept, weights }: Firmness): number =>
  valuesOf(signs).reduce((sum, value, at) => sum + value * weights[at]!, intercept);

/**
 * In a long meeting, the `before` best task candidates need the score `threshold`, and each further one needs `step`
 * more than the one before it.
 */
const before = 3;
const step = 0.7;
const longTalk = Math.log(300);

/** The score that a task candidate needs when `nth` others score higher. `length`: as in `Signs`. */
export const neededFor = (nth: number, length: number, { threshold }: Firmness): number =>
  threshold + (length > longTalk ? step * Math.max(0, nth + 1 - before) : 0);
