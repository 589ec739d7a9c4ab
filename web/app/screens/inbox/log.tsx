/** Messages and notes in the order in which they were written. Texts of others become text nodes, never HTML. */
import { useSignal } from '@preact/signals';
import { Why } from './why.tsx';
import type { InboxMessage, Note } from '../../../../api/chat/contract/inbox.ts';
import { Act } from '../../parts/act.tsx';
import { moment } from '../../rules/times.ts';
import {
  answering,
  dropNote,
  dropReply,
  messages,
  notes,
  older,
  openId,
  outgoing,
  readOlder,
  takeBack,
  typing,
} from '../../state/conversation.ts';
import { minute } from '../../state/minute.ts';
import { nameOf } from '../../state/people.ts';
import { isAdmin, user } from '../../state/session.ts';
import { locale, texts } from '../../texts/texts.ts';

export function Log() {
  const t = texts.value;
  const first = older.value === null ? '' : (messages.value[0]?.timestamp ?? '');
  const all = [
    ...messages.value.map((message) => ({
      at: message.timestamp,
      id: message.id,
      shown: <Message message={message} />,
    })),
    ...notes.value
      .filter(({ at }) => at >= first)
      .map((note) => ({ at: note.at, id: note.note_id, shown: <NoteShown note={note} /> })),
  ].sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  return (
    <ol>
      {older.value !== null && (
        <li>
          <Act name={t.older} act={readOlder} />
        </li>
      )}
      {all.map(({ id, shown }) => (
        <li key={id}>{shown}</li>
      ))}
      {outgoing.value
        .filter(({ convId }) => convId === openId.value)
        .map((one) => (
          <li key={one.id}>
            <article class="message agent outgoing">
              <p class="said">{one.body}</p>
              {one.failed ? (
                <footer>
                  <strong class="error" role="alert">
                    {t.notSent} {one.failed}
                  </strong>{' '}
                  <Act name={t.editAgain} act={() => takeBack(one)} />
                  <Act name={t.remove} act={() => dropReply(one.id)} />
                </footer>
              ) : (
                <footer>{t.sending}</footer>
              )}
            </article>
          </li>
        ))}
      {answering.value !== undefined && (
        <li>
          <article class="message ai outgoing">
            <p class="said">{answering.value}</p>
            <footer>{t.agentWrites}</footer>
          </article>
        </li>
      )}
      {typing.value && (
        <li>
          <small>{t.customerTypes}</small>
        </li>
      )}
    </ol>
  );
}

function Message({ message }: { message: InboxMessage }) {
  const t = texts.value;
  const why = useSignal(false);
  const { role, body, timestamp, sources = [], sender_name, sender_id, record, mail } = message;
  const who = role === 'agent' ? nameOf(sender_id ?? '') || sender_name || t.roles[role] : t.roles[role];
  return (
    <article class={`message ${role}`}>
      <header>
        <strong>{who}</strong> <small>{moment(timestamp, minute.value, locale.value)}</small>
      </header>
      {mail && <p class="subject">{mail.subject}</p>}
      <p class="said">{body}</p>
      {sources.length > 0 && (
        <p class="sources">
          {t.sources}: {sources.map(({ name, title }) => title ?? name).join(', ')}
        </p>
      )}
      {record && (
        <button type="button" class="plain" aria-expanded={why.value} onClick={() => (why.value = !why.value)}>
          {t.why}
        </button>
      )}
      {record && why.value && <Why message={message} />}
    </article>
  );
}

function NoteShown({ note: { note_id, author, body, at } }: { note: Note }) {
  const t = texts.value;
  return (
    <article class="message note">
      <header>
        <strong>
          {t.note}: {nameOf(author) || t.formerMember}
        </strong>{' '}
        <small>{moment(at, minute.value, locale.value)}</small>
      </header>
      <p class="said">{body}</p>
      {(author === user.value!.userId || isAdmin.value) && (
        <Act name={t.remove} kind="plain" act={() => dropNote(note_id)} />
      )}
    </article>
  );
}
