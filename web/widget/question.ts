/**
 * The form for a tool's question to the customer. The server validates the input; the form only makes the input easy.
 */
import type { Ask, Field } from './conversation.ts';
import { make } from '../live/elements.ts';
import type { Texts } from './texts.ts';

export type QuestionEvents = {
  /** The customer answers the tool's question, declines or cancels it. */
  replied(ask: Ask, action: 'accept' | 'decline' | 'cancel', content?: Record<string, unknown>): void;
};

type Control = { element: HTMLElement; value(): unknown };

/** The HTML input type for each kind of field; other kinds are plain text. */
const inputTypes: Readonly<Record<string, string>> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
  number: 'number',
  integer: 'number',
};

export function questionForm(
  ask: Ask,
  { fields }: NonNullable<Ask['question']>,
  id: string,
  texts: Texts,
  on: QuestionEvents,
): HTMLElement {
  // After the server has refused an answer, the customer's input is shown again for correction.
  const given = (ask.reply?.['content'] ?? {}) as Record<string, unknown>;
  const controls = fields.map((field, index) => {
    const initial = given[field.name] ?? field.initial;
    return [field.name, controlOf(field, initial, `${id}-${index}`, texts)] as const;
  });
  const no = make('button', { type: 'button', class: 'secondary' }, texts.decline);
  const over = make('button', { type: 'button', class: 'secondary' }, texts.giveUp);
  const yes = make('button', { class: 'primary' }, texts.send);
  const form = make(
    'form',
    { class: 'question', 'aria-labelledby': id },
    ...controls.map(([, { element }]) => element),
    make('div', { class: 'actions' }, over, no, yes),
  );
  no.addEventListener('click', () => on.replied(ask, 'decline'));
  over.addEventListener('click', () => on.replied(ask, 'cancel'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const content = controls.flatMap(([name, control]) => {
      const value = control.value();
      return value === undefined ? [] : [[name, value] as const];
    });
    on.replied(ask, 'accept', Object.fromEntries(content));
  });
  return form;
}

function controlOf(field: Field, initial: unknown, id: string, texts: Texts): Control {
  const { label, description, kind, required } = field;
  const noteId = `${id}-note`;
  const described = description === undefined ? {} : { 'aria-describedby': noteId };
  const note = description === undefined ? [] : [make('p', { id: noteId, class: 'note', dir: 'auto' }, description)];
  if (kind === 'choices') {
    const boxes = (field.options ?? []).map((option) => {
      const checked = Array.isArray(initial) && initial.includes(option.value);
      const box = make('input', { type: 'checkbox', value: option.value, checked });
      return { box, line: make('label', { class: 'tick', dir: 'auto' }, box, option.label) };
    });
    const lines = boxes.map(({ line }) => line);
    return {
      element: make('fieldset', described, make('legend', { dir: 'auto' }, label), ...note, ...lines),
      value: () => boxes.flatMap(({ box }) => (box.checked ? [box.value] : [])),
    };
  }
  if (kind === 'boolean') {
    const box = make('input', { id, type: 'checkbox', checked: initial === true, ...described });
    return {
      element: make('div', {}, make('label', { class: 'tick', dir: 'auto' }, box, label), ...note),
      value: () => box.checked,
    };
  }
  const control =
    kind === 'choice'
      ? make(
          'select',
          { id, required, ...described },
          make('option', { value: '' }, texts.choose),
          ...(field.options ?? []).map(({ value, label: shown }) =>
            make('option', { value, selected: value === initial }, shown),
          ),
        )
      : make('input', {
          id,
          type: inputTypes[kind] ?? 'text',
          required,
          ...(kind === 'number' ? { step: 'any' } : {}),
          ...(typeof initial === 'string' || typeof initial === 'number' ? { value: initial } : {}),
          ...described,
        });
  return {
    element: make('div', {}, make('label', { for: id, dir: 'auto' }, label), ...note, control),
    value: () => (control.value === '' ? undefined : valueOf(kind, control.value)),
  };
}

/**
 * Converts the input to the value to send. A local time is converted from this browser's time zone to UTC, because the
 * server needs a point in time.
 */
function valueOf(kind: string, text: string): unknown {
  if (kind === 'number' || kind === 'integer') return Number(text);
  return kind === 'date-time' ? new Date(text).toISOString() : text;
}
