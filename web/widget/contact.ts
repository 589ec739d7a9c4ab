/** Asks a visitor for an e-mail address to which the team's replies can be mailed. */
import { make } from '../live/elements.ts';
import type { Texts } from './texts.ts';

/**
 * `no`: no address is asked for. `asked`, `refused`: the form is shown. `sent`: the address is being sent. `kept`:
 * thanks are shown.
 */
export type ContactState = 'no' | 'asked' | 'sent' | 'refused' | 'kept';

export function createContact(texts: Texts, on: { given(email: string): void; later(): void }) {
  const input = make('input', { id: 'email', type: 'email', required: true, autocomplete: 'email', maxlength: 254 });
  const wrong = make('p', { class: 'wrong', role: 'alert' });
  const later = make('button', { type: 'button', class: 'secondary' }, texts.emailLater);
  const save = make('button', { class: 'primary' }, texts.emailSave);
  const form = make(
    'form',
    { class: 'contact', hidden: true },
    make('p', {}, texts.askEmail),
    make('label', { for: 'email' }, texts.email),
    input,
    wrong,
    make('div', { class: 'actions' }, later, save),
  );
  const thanks = make('p', { class: 'status', role: 'status' });
  later.addEventListener('click', () => on.later());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    on.given(input.value.trim());
  });
  return {
    element: make('div', {}, form, thanks),
    clear: (): void => form.reset(),
    show(state: ContactState): void {
      form.hidden = state === 'no' || state === 'kept';
      save.disabled = state === 'sent';
      const [problem, said] = [state === 'refused' ? texts.emailWrong : '', state === 'kept' ? texts.emailKept : ''];
      if (wrong.textContent !== problem) wrong.textContent = problem;
      if (thanks.textContent !== said) thanks.textContent = said;
    },
  };
}
