/** What a member does with a conversation: assign, resolve, take over, snooze, tag, prioritize. */
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import type { InboxConversation } from '../../../../api/chat/contract/inbox.ts';
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { useKeys } from '../../parts/keys.ts';
import { moment } from '../../rules/times.ts';
import { snoozeTimes } from '../../rules/writing.ts';
import { assign, escalate, markUnread, reopen, setPriority, setTags, snooze, wake } from '../../state/conversation.ts';
import { minute } from '../../state/minute.ts';
import { people } from '../../state/people.ts';
import { user } from '../../state/session.ts';
import { teamTags } from '../../state/tags.ts';
import { locale, texts } from '../../texts/texts.ts';

type Asked = 'assign' | 'snooze' | 'tags' | 'priority';

export function Acts({ one, resolveAndNext }: { one: InboxConversation; resolveAndNext: () => Promise<void> }) {
  const t = texts.value;
  const asked = useSignal<Asked | undefined>(undefined);
  const ask = (what: Asked) => () => void (asked.value = what);
  useKeys({ a: ask('assign'), z: ask('snooze'), t: ask('tags'), p: ask('priority') });
  const closed = () => (asked.value = undefined);
  const dialogs: Record<Asked, () => ComponentChildren> = {
    assign: () => <Assign one={one} closed={closed} />,
    snooze: () => <Snooze closed={closed} />,
    tags: () => <Tags one={one} closed={closed} />,
    priority: () => (
      <Choose
        title={t.priority}
        closed={closed}
        choices={[...Object.entries(t.priorities), ['', t.none]]}
        choose={(priority) => void setPriority(priority === '' ? null : (priority as 'low'))}
      />
    ),
  };
  return (
    <div class="acts">
      {one.status === 'resolved' ? (
        <Act name={t.reopen} act={reopen} />
      ) : (
        <Act name={t.resolve} kind="main" act={resolveAndNext} />
      )}
      {one.status !== 'escalated' && one.status !== 'resolved' && <Act name={t.escalate} act={() => escalate()} />}
      {one.assigned_to !== user.value!.userId && <Act name={t.assignToMe} act={() => assign(user.value!.userId)} />}
      <Act name={t.assign} act={ask('assign')} />
      {one.snoozed ? <Act name={t.wake} act={wake} /> : <Act name={t.snooze} act={ask('snooze')} />}
      <Act name={t.markUnread} act={markUnread} />
      <Act name={t.tags} act={ask('tags')} />
      <Act name={t.priority} act={ask('priority')} />
      {one.snoozed && (
        <small>
          {one.snoozed.until ? t.snoozedUntil(moment(one.snoozed.until, minute.value, locale.value)) : t.snoozedReply}
        </small>
      )}
      {asked.value && dialogs[asked.value]()}
    </div>
  );
}

type Choices = {
  title: string;
  closed: () => void;
  choices: readonly (readonly [string, string])[];
  choose: (id: string) => void;
};

/** A dialog to choose one of a few options. Each option is a button, and the first button has the focus. */
const Choose = ({ title, closed, choices, choose }: Choices) => (
  <Dialog title={title} closed={closed}>
    <form method="dialog" class="stack">
      {choices.map(([id, name]) => (
        <button key={id} type="submit" onClick={() => choose(id)}>
          {name}
        </button>
      ))}
    </form>
  </Dialog>
);

function Assign({ one, closed }: { one: InboxConversation; closed: () => void }) {
  const t = texts.value;
  const names = people.value.map(({ user_id, name, state }) => [user_id, `${name} (${t[state]})`] as const);
  const choices = [...names, ...(one.assigned_to === null ? [] : [['', t.nobody] as const])];
  return (
    <Choose title={t.assign} closed={closed} choices={choices} choose={(id) => void assign(id === '' ? null : id)} />
  );
}

function Snooze({ closed }: { closed: () => void }) {
  const times = snoozeTimes(new Date());
  return (
    <Choose
      title={texts.value.snooze}
      closed={closed}
      choices={Object.entries(texts.value.snoozes)}
      choose={(id) => void snooze(id === 'reply' ? id : times[id as keyof typeof times].toISOString())}
    />
  );
}

function Tags({ one, closed }: { one: InboxConversation; closed: () => void }) {
  const t = texts.value;
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const tag = textOf(form, 'tag').trim();
    form.reset();
    if (tag) void setTags([...one.tags, tag]);
  };
  return (
    <Dialog title={t.tags} closed={closed}>
      <ul class="line">
        {one.tags.map((tag) => (
          <li key={tag}>
            <button type="button" onClick={() => void setTags(one.tags.filter((other) => other !== tag))}>
              {tag} <span aria-hidden="true">×</span>
              <span class="hidden">{t.remove}</span>
            </button>
          </li>
        ))}
      </ul>
      <form class="stack" onSubmit={add}>
        <Field label={t.addTag}>
          <input name="tag" type="text" maxLength={50} list="team-tags" />
        </Field>
        <datalist id="team-tags">
          {teamTags.value.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button type="submit">{t.addTag}</button>
      </form>
      <form method="dialog">
        <button type="submit">{t.close}</button>
      </form>
    </Dialog>
  );
}
