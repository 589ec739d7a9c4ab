/** The visible parts of an interview room. It shows the state that it gets and reports what people do. */
import type { LinkState } from '../live/connection.ts';
import { make } from '../live/elements.ts';
import { isComposing } from '../live/keys.ts';
import { localeOf } from '../live/sentences.ts';
import type { Entry, Room, Suggestion } from './state.ts';
import { texts, type Locale, type Texts } from './texts.ts';

export type Shown = {
  room: Room;
  link: LinkState;
  /** The answer about consent has been sent but not acknowledged. */
  busy: boolean;
};
export type ViewEvents = { consented(accepted: boolean): void; said(body: string): void; ended(): void };

/** Maximum length of a message that the server accepts, in characters. */
const maxBody = 8000;

export function createView(main: HTMLElement, on: ViewEvents) {
  const title = make('h1', {});
  const end = make('button', { type: 'button', class: 'end', hidden: true });
  const count = make('p', { id: 'count' });
  const bar = make('progress', { 'aria-labelledby': 'count', max: 1, value: 0 });
  const progress = make('div', { class: 'progress', hidden: true }, count, bar);
  const explanation = make('p', {});
  const agree = make('button', { type: 'button', class: 'agree' });
  const decline = make('button', { type: 'button', class: 'decline' });
  const choices = make('div', { class: 'choices', hidden: true }, agree, decline);
  const heading = make('h2', {});
  const notice = make('section', { class: 'notice', hidden: true }, heading, explanation, choices);
  const log = make('div', { class: 'log', role: 'log', tabindex: 0 });
  const note = make('p', { class: 'note', role: 'status' });
  const suggestions = make('section', { class: 'suggestions', 'aria-live': 'polite', hidden: true });
  const input = make('textarea', { id: 'answer', rows: 3, maxlength: maxBody, dir: 'auto' });
  const label = make('label', { for: 'answer' });
  const send = make('button', { type: 'submit', class: 'send' });
  const form = make('form', { hidden: true }, label, make('div', { class: 'compose' }, input, send));
  main.replaceChildren(make('header', {}, title, end), notice, progress, log, suggestions, note, form);

  /** The elements of the log, by the client's id of the message, or by the server's id if there is no client's id. */
  const shown = new Map<string, HTMLElement>();
  let mayEnd = false;
  /** The browser's language, until the interview's language is known. */
  let locale: Locale = localeOf(texts, navigator.languages);
  let words: Texts = texts[locale];
  speak();

  /** Sets the fixed texts of the page. */
  function speak(): void {
    document.documentElement.lang = locale;
    title.textContent = words.interview;
    end.textContent = mayEnd ? words.endAgain : words.end;
    agree.textContent = words.agree;
    decline.textContent = words.decline;
    send.textContent = words.send;
    input.placeholder = words.placeholder;
    notice.ariaLabel = words.about;
    log.ariaLabel = words.interview;
    suggestions.ariaLabel = words.suggestions;
  }

  agree.addEventListener('click', () => on.consented(true));
  decline.addEventListener('click', () => on.consented(false));
  // Ending needs two presses of the button, because one press may be a mistake.
  end.addEventListener('click', () => {
    if (mayEnd) on.ended();
    mayEnd = true;
    end.textContent = words.endAgain;
  });
  end.addEventListener('blur', () => {
    mayEnd = false;
    end.textContent = words.end;
  });
  const submit = (): void => {
    const body = input.value.trim();
    if (body === '') return;
    input.value = '';
    on.said(body);
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    submit();
  });

  function showEntries(entries: readonly Entry[], role: string | undefined): void {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    const keys = entries.map((entry) => entry.clientId ?? entry.id ?? '');
    for (const [key, element] of shown) {
      if (keys.includes(key)) continue;
      element.remove();
      shown.delete(key);
    }
    for (const [index, entry] of entries.entries()) {
      const key = keys[index]!;
      const element = shown.get(key) ?? entryElement(entry, role, words);
      element.className = `entry ${entry.by} ${entry.by === role ? 'own' : ''} ${entry.state}`;
      element.querySelector('.mark')!.textContent =
        entry.state === 'waiting' ? words.waiting : entry.state === 'failed' ? words.failed : '';
      if (!shown.has(key) || log.children[index] !== element) log.insertBefore(element, log.children[index] ?? null);
      shown.set(key, element);
    }
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  return {
    show({ room, link, busy }: Shown): void {
      const { welcome, stage, question, ending } = room;
      const over = stage === 'over' || link === 'ended' || link === 'refused';
      const running = welcome !== undefined && stage === 'running' && !over;
      const asks = welcome !== undefined && stage === 'waiting' && !over;
      const leads = welcome?.mode !== 'solo' || welcome.role === 'candidate';
      if (welcome && welcome.language !== locale) {
        locale = localeOf(texts, [welcome.language]);
        words = texts[locale];
        speak();
      }
      main.dataset['stage'] = over ? 'over' : welcome ? stage : 'connecting';
      title.textContent = welcome ? words.interviewFor(welcome.role_title) : words.interview;
      document.title = title.textContent;
      notice.hidden = welcome === undefined || over;
      heading.textContent = welcome?.mode === 'solo' ? words.speaksWithAi : words.aiTakesPart;
      explanation.textContent = running ? words.recorded : (welcome?.ai_notice ?? '');
      label.textContent = welcome?.mode === 'solo' ? words.answer : words.message;
      choices.hidden = !asks || welcome.role !== 'candidate';
      for (const button of [agree, decline]) button.disabled = busy;
      const counts = question !== undefined && welcome?.mode === 'solo' && !over;
      progress.hidden = !counts;
      if (counts) {
        bar.max = question.total;
        bar.value = question.index - 1;
        count.textContent = words.progress(question.index, question.total);
      }
      showEntries(room.entries, welcome?.role);
      form.hidden = !running || !leads;
      end.hidden = !running;
      showSuggestions(suggestions, running ? room.suggestions : [], words);
      const sentence = over
        ? (ending ?? words.over)
        : (room.fault ??
          (navigator.onLine ? (room.early ? words.notOpenYet : linkNote(link, words)) : words.offline) ??
          (welcome === undefined ? words.connecting : undefined) ??
          (asks && welcome.role === 'interviewer' ? words.waitingForCandidate : ''));
      if (note.textContent !== sentence) note.textContent = sentence;
    },
  };
}

const linkNote = (link: LinkState, words: Texts): string | undefined =>
  link === 'lost' ? words.reconnecting : link === 'slow' ? words.tooFast : undefined;

function entryElement({ by, body }: Entry, role: string | undefined, words: Texts): HTMLElement {
  const name = by === role ? words.you : words[by];
  return make(
    'div',
    {},
    make('p', { class: 'by' }, name),
    make('p', { class: 'body', dir: 'auto' }, body),
    make('p', { class: 'mark' }),
  );
}

function showSuggestions(place: HTMLElement, list: readonly Suggestion[], words: Texts): void {
  place.hidden = list.length === 0;
  const key = list.map(({ suggestion_id }) => suggestion_id).join();
  if (place.dataset['key'] === key) return;
  place.dataset['key'] = key;
  const items = list.map(({ kind, body }) =>
    make(
      'li',
      {},
      make('span', { class: 'kind' }, kind === 'question' ? words.nextQuestion : words.followUp),
      ` ${body}`,
    ),
  );
  place.replaceChildren(make('h2', {}, words.suggestionsForYou), make('ul', {}, ...items));
}
