/** The visible parts of a room. It shows the state that it is given and reports what people do. */
import type { LinkState } from '../live/connection.ts';
import { make } from '../live/elements.ts';
import type { Entry, Room, Suggestion } from './state.ts';

export type Shown = { room: Room; link: LinkState; /** An answer about consent is on its way. */ busy: boolean };
export type ViewEvents = { consented(accepted: boolean): void; said(body: string): void; ended(): void };

/** Longest message that the server takes, in characters. */
const maxBody = 8000;

const names = { candidate: 'Candidate', interviewer: 'Interviewer', ai: 'AI interviewer' } as const;
const linkNotes: Partial<Record<LinkState, string>> = {
  lost: 'The connection was lost; trying again. What you write is kept.',
  slow: 'That was very quick. Your messages are sent in a moment.',
};

export function createView(main: HTMLElement, on: ViewEvents) {
  const parts = build(main);
  const { title, progress, bar, notice, log, note, form, input, agree, decline, end, suggestions } = parts;
  /** What stands in the log, by id. */
  const shown = new Map<string, HTMLElement>();
  let mayEnd = false;

  agree.addEventListener('click', () => on.consented(true));
  decline.addEventListener('click', () => on.consented(false));
  // The second press ends it: one is easily made by mistake.
  end.addEventListener('click', () => {
    if (mayEnd) on.ended();
    mayEnd = true;
    end.textContent = 'Press again to end the interview';
  });
  end.addEventListener('blur', () => {
    mayEnd = false;
    end.textContent = 'End interview';
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
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
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
      const element = shown.get(key) ?? entryElement(entry, role);
      element.className = `entry ${entry.by} ${entry.by === role ? 'own' : ''} ${entry.state}`;
      element.querySelector('.mark')!.textContent =
        entry.state === 'waiting' ? 'Not sent yet' : entry.state === 'failed' ? 'Could not be sent' : '';
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
      main.dataset['stage'] = over ? 'over' : welcome ? stage : 'connecting';
      title.textContent = welcome ? `Interview: ${welcome.title}` : 'Interview';
      document.title = title.textContent;
      notice.hidden = welcome === undefined || over;
      parts.heading.textContent =
        welcome?.mode === 'solo' ? 'You are speaking with an AI' : 'An AI takes part in this interview';
      parts.words.textContent = running ? 'Everything that is written here is recorded.' : (welcome?.notice ?? '');
      parts.label.textContent = welcome?.mode === 'solo' ? 'Your answer' : 'Your message';
      parts.choices.hidden = !asks || welcome.role !== 'candidate';
      for (const button of [agree, decline]) button.disabled = busy;
      const counts = question !== undefined && welcome?.mode === 'solo' && !over;
      progress.hidden = !counts;
      if (counts) {
        bar.max = question.total;
        bar.value = question.index - 1;
        parts.count.textContent = `Question ${question.index} of ${question.total}`;
      }
      showEntries(room.entries, welcome?.role);
      form.hidden = !running || !leads;
      end.hidden = !running;
      showSuggestions(suggestions, running ? room.suggestions : []);
      const sentence = over
        ? (ending ?? 'This link is not valid, or the interview is over.')
        : (room.fault ??
          (navigator.onLine ? linkNotes[link] : 'You are offline. What you write is sent as soon as you are back.') ??
          (welcome === undefined ? 'Connecting…' : undefined) ??
          (asks && welcome.role === 'interviewer'
            ? 'Waiting for the candidate to join and to agree to the recording.'
            : ''));
      if (note.textContent !== sentence) note.textContent = sentence;
    },
  };
}

function entryElement({ by, body }: Entry, role: string | undefined): HTMLElement {
  const name = by === role ? 'You' : names[by];
  return make(
    'div',
    {},
    make('p', { class: 'by' }, name),
    make('p', { class: 'body', dir: 'auto' }, body),
    make('p', { class: 'mark' }),
  );
}

function showSuggestions(place: HTMLElement, list: readonly Suggestion[]): void {
  place.hidden = list.length === 0;
  const key = list.map(({ id }) => id).join();
  if (place.dataset['key'] === key) return;
  place.dataset['key'] = key;
  const items = list.map(({ kind, body }) =>
    make('li', {}, make('span', { class: 'kind' }, kind === 'question' ? 'Next question' : 'Follow up'), ` ${body}`),
  );
  place.replaceChildren(make('h2', {}, 'Suggestions, for you alone'), make('ul', {}, ...items));
}

function build(main: HTMLElement) {
  const title = make('h1', {}, 'Interview');
  const end = make('button', { type: 'button', class: 'end', hidden: true }, 'End interview');
  const count = make('p', { id: 'count' });
  const bar = make('progress', { 'aria-labelledby': 'count', max: 1, value: 0 });
  const progress = make('div', { class: 'progress', hidden: true }, count, bar);
  const words = make('p', {});
  const agree = make('button', { type: 'button', class: 'agree' }, 'I agree, begin');
  const decline = make('button', { type: 'button', class: 'decline' }, 'I do not agree');
  const choices = make('div', { class: 'choices', hidden: true }, agree, decline);
  const heading = make('h2', {});
  const notice = make(
    'section',
    { class: 'notice', 'aria-label': 'About this interview', hidden: true },
    heading,
    words,
    choices,
  );
  const log = make('div', { class: 'log', role: 'log', 'aria-label': 'Interview', tabindex: 0 });
  const note = make('p', { class: 'note', role: 'status' });
  const suggestions = make('section', {
    class: 'suggestions',
    'aria-live': 'polite',
    'aria-label': 'Suggestions',
    hidden: true,
  });
  const input = make('textarea', {
    id: 'answer',
    rows: 3,
    maxlength: maxBody,
    placeholder: 'Write here…',
    dir: 'auto',
  });
  const label = make('label', { for: 'answer' }, 'Your answer');
  const form = make(
    'form',
    { hidden: true },
    label,
    make('div', { class: 'compose' }, input, make('button', { type: 'submit', class: 'send' }, 'Send')),
  );
  main.replaceChildren(make('header', {}, title, end), notice, progress, log, suggestions, note, form);
  return {
    title,
    end,
    progress,
    bar,
    count,
    notice,
    heading,
    words,
    label,
    agree,
    decline,
    choices,
    log,
    note,
    form,
    input,
    suggestions,
  };
}
