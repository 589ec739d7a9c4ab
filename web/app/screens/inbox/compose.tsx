/** The box in which a member writes a reply to the customer or a note for colleagues. */
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { useSignal, type ReadonlySignal } from '@preact/signals';
import { customerName } from './entry.tsx';
import type { InboxConversation } from '../../../../api/chat/contract/inbox.ts';
import { isComposing, useKeys } from '../../parts/keys.ts';
import { replaced, wordAt, type Insert } from '../../rules/writing.ts';
import { canned, readCanned } from '../../state/canned.ts';
import { draft, noteDraft, openId, reply, suggest, type, typeNote, writeNote } from '../../state/conversation.ts';
import { people } from '../../state/people.ts';
import { attempt, toast } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export type Writing = 'reply' | 'note';
type Given = {
  one: InboxConversation;
  /**
   * Whether a reply or a note is written. It is a signal that is read at each key press, because a key may be pressed
   * before the effect of the previous key is rendered.
   */
  writing: ReadonlySignal<Writing>;
  write: (what: Writing) => void;
  box: RefObject<HTMLTextAreaElement | null>;
};
/** A text that may replace the word at the caret. */
type Choice = { id: string; name: string; text: string };

export function Compose({ one, writing, write, box }: Given) {
  const t = texts.value;
  const busy = useSignal(false);
  const word = useSignal<Insert | undefined>(undefined);
  const chosen = useSignal(0);
  const isNote = writing.value === 'note';
  const body = isNote ? noteDraft.value : draft.value;
  const change = (text: string) => (writing.value === 'note' ? typeNote(text) : type(text));
  const found = () => (word.value ? choicesFor(writing.value === 'note', word.value.word) : []);
  const choices = found();
  useEffect(() => void readCanned(), []);

  const typed = (text: string, caret: number) => {
    change(text);
    word.value = wordAt(writing.value === 'note' ? '@' : '/', text, caret);
    chosen.value = 0;
  };
  const insert = ({ text }: Choice) => {
    const made = replaced(body, word.value!, text);
    const area = box.current!;
    area.value = made.body;
    area.setSelectionRange(made.caret, made.caret);
    area.focus();
    change(made.body);
    word.value = undefined;
  };
  const draw = async () => {
    if (busy.value) return;
    busy.value = true;
    const id = openId.value;
    await attempt(async () => {
      if (!(await suggest())) return toast(t.noSuggestion);
      // The member may have opened another conversation meanwhile, and may be writing a note there.
      if (openId.value === id) write('reply');
    });
    busy.value = false;
  };
  const send = async () => (writing.value === 'reply' ? reply() : writeNote());
  const pressed = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const { key, ctrlKey, metaKey } = event;
    const choices = found();
    const choice = choices[chosen.value];
    if (key === 'Enter' && (ctrlKey || metaKey)) void send();
    else if (choice && (key === 'Enter' || key === 'Tab')) insert(choice);
    else if (choice && (key === 'ArrowDown' || key === 'ArrowUp'))
      chosen.value = (chosen.value + (key === 'ArrowDown' ? 1 : choices.length - 1)) % choices.length;
    else if (key === 'Escape' && word.value) word.value = undefined;
    else if (key === 'Escape') box.current?.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  useKeys({ s: () => void draw() });

  return (
    <form
      class={`compose ${writing.value}`}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="line">
        <button type="button" aria-pressed={!isNote} onClick={() => write('reply')}>
          {t.reply}
        </button>
        <button type="button" aria-pressed={isNote} onClick={() => write('note')}>
          {t.note}
        </button>
        <button type="button" disabled={busy.value} onClick={() => void draw()}>
          {t.suggest}
        </button>
      </div>
      <textarea
        ref={box}
        rows={4}
        value={body}
        aria-label={isNote ? t.note : t.replyTo(customerName(one.customer))}
        placeholder={isNote ? t.writeNote : ''}
        aria-controls="choices"
        aria-autocomplete="list"
        aria-activedescendant={choices.length > 0 ? `choice-${chosen.value}` : undefined}
        onInput={({ currentTarget }) => typed(currentTarget.value, currentTarget.selectionStart)}
        onKeyDown={pressed}
      />
      <ul
        id="choices"
        class="choices"
        role="listbox"
        aria-label={isNote ? t.assigned : t.canned}
        hidden={choices.length === 0}
      >
        {choices.map((choice, at) => (
          <li
            key={choice.id}
            id={`choice-${at}`}
            role="option"
            aria-selected={at === chosen.value}
            onMouseDown={(event) => {
              event.preventDefault();
              insert(choice);
            }}
          >
            <strong>{choice.name}</strong> {choice.text !== choice.name && <span>{choice.text}</span>}
          </li>
        ))}
      </ul>
      <button type="submit" class="main" disabled={!body.trim()}>
        {isNote ? t.save : t.send} <kbd>Ctrl Enter</kbd>
      </button>
    </form>
  );
}

function choicesFor(isNote: boolean, word: string): Choice[] {
  const begins = (name: string) => name.toLowerCase().startsWith(word.toLowerCase());
  const found = isNote
    ? people.value
        .filter(({ name }) => begins(name))
        .map(({ user_id, name }) => ({ id: user_id, name, text: `@${name} ` }))
    : canned.value
        .filter(({ shortcut }) => begins(shortcut))
        .map(({ reply_id, shortcut, body }) => ({ id: reply_id, name: `/${shortcut}`, text: body }));
  return found.slice(0, 8);
}
