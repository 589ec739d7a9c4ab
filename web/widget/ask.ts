/**
 * The question that a customer must answer before an action is done. It shows exactly what will be done, with buttons
 * to decide.
 */
import type { Ask } from './conversation.ts';
import { make } from '../live/elements.ts';
import { questionForm, type QuestionEvents } from './question.ts';
import type { Texts } from './texts.ts';

export type AskEvents = QuestionEvents & {
  /** The customer approves the proposed action or rejects it. */
  decided(ask: Ask, approved: boolean): void;
  /** The customer wants to prove their identity, which the host page does. */
  prove(ask: Ask): void;
};

/**
 * The question as an element of the log, so that a screen reader announces the question when it appears, and again when
 * the customer has decided.
 */
export function askElement(ask: Ask, texts: Texts, locale: string, on: AskEvents): HTMLElement {
  const { pendingId, kind, title, rows, does, question, state } = ask;
  const id = `ask-${pendingId}-${question?.id ?? ''}`;
  const named = rows.flatMap(([name, value]) => [
    make('dt', { dir: 'auto' }, name),
    make('dd', { dir: 'auto' }, inWords(value, texts, locale)),
  ]);
  const said = make(
    'div',
    { class: 'body' },
    make('p', { class: 'what', id, dir: 'auto' }, title),
    ...(named.length === 0 ? [] : [make('dl', {}, ...named)]),
    ...(does === undefined ? [] : [make('p', { dir: 'auto' }, does)]),
    ...(question ? [make('p', { dir: 'auto' }, question.message)] : []),
    make('p', {}, sentenceOf(ask, texts)),
  );
  const element = make('div', { class: `entry system ask ${state}`, role: 'group', 'aria-labelledby': id }, said);
  if (state !== 'open' && state !== 'failed') return element;
  if (question) {
    element.append(questionForm(ask, question, id, texts, on));
    return element;
  }
  const yes = make('button', { type: 'button', class: 'primary' }, kind === 'confirm' ? texts.agree : texts.prove);
  const no = make('button', { type: 'button', class: 'secondary' }, texts.decline);
  yes.addEventListener('click', () => (kind === 'confirm' ? on.decided(ask, true) : on.prove(ask)));
  no.addEventListener('click', () => on.decided(ask, false));
  element.append(make('div', { class: 'actions' }, no, yes));
  return element;
}

/** A date, or a date with a time (ISO 8601). */
const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Booleans, numbers and times in the customer's language. */
function inWords(value: string | number | boolean, texts: Texts, locale: string): string {
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  if (typeof value === 'number') return new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(value);
  if (!isoTime.test(value) || Number.isNaN(Date.parse(value))) return value;
  // A date without a time is formatted in UTC, so that it stays the same day in every time zone.
  return value.length === 10
    ? new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(value))
    : new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' }).format(new Date(value));
}

function sentenceOf({ kind, state }: Ask, texts: Texts): string {
  if (kind === 'input') {
    if (state === 'open') return texts.askAnswer;
    if (state === 'failed') return texts.notTaken;
    if (state === 'agreed') return texts.answered;
  }
  if (state === 'open') return kind === 'confirm' ? texts.askAgree : texts.askProof;
  if (state === 'failed') return texts.notProven;
  if (state === 'sent') return texts.answering;
  if (state === 'over') return texts.askOver;
  return state === 'agreed' ? texts.agreed : texts.declined;
}
