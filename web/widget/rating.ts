/** The form that ends a conversation and asks for a rating from 1 to 5. */
import { make } from '../live/elements.ts';
import type { Texts } from './texts.ts';

/** `send` gets the rating, or undefined when the customer gave none. */
export function createRating(texts: Texts, on: { send(stars: number | undefined): void; back(): void }) {
  const stars = [1, 2, 3, 4, 5].map((count) =>
    make(
      'label',
      {},
      make('input', { type: 'radio', name: 'rating', value: count, 'aria-label': nameOf(count, texts) }),
      make('span', { 'aria-hidden': 'true' }, String(count)),
    ),
  );
  const back = make('button', { type: 'button', class: 'secondary' }, texts.rateBack);
  const element = make(
    'form',
    { class: 'rating', hidden: true },
    make(
      'fieldset',
      {},
      make('legend', {}, texts.rate),
      make('div', { class: 'scale' }, ...stars),
      make(
        'div',
        { class: 'ends', 'aria-hidden': 'true' },
        make('span', {}, texts.rateLow),
        make('span', {}, texts.rateHigh),
      ),
    ),
    make('div', { class: 'actions' }, back, make('button', { class: 'primary' }, texts.rateSend)),
  );
  back.addEventListener('click', () => on.back());
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    const chosen = element.querySelector<HTMLInputElement>('input:checked');
    on.send(chosen ? Number(chosen.value) : undefined);
  });
  return {
    element,
    open(): void {
      element.reset();
      element.hidden = false;
      element.querySelector('input')?.focus();
    },
  };
}

function nameOf(count: number, texts: Texts): string {
  const end = count === 1 ? texts.rateLow : count === 5 ? texts.rateHigh : '';
  return end === '' ? texts.rateOf(count) : `${texts.rateOf(count)}, ${end}`;
}
