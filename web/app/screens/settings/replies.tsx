/** Canned replies: the member's own replies, and those that all members share. */
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { changeCannedReply, createCannedReply, removeCannedReply, type CannedReply } from '../../api/operations.ts';
import { Form } from '../frame/form.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { canned, readCanned } from '../../state/canned.ts';
import { isAdmin, orgId } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export function Replies() {
  const t = texts.value.settings;
  const editing = useSignal<CannedReply | undefined>(undefined);
  const params = { orgId: orgId.value };
  useEffect(() => void readCanned(), [orgId.value]);
  const send = async (form: HTMLFormElement) => {
    const shared = textOf(form, 'shared') === 'on';
    const body = { shortcut: textOf(form, 'shortcut'), body: textOf(form, 'body'), shared };
    if (editing.value) await call(changeCannedReply, { params: { ...params, replyId: editing.value.reply_id }, body });
    else await call(createCannedReply, { params, body });
    editing.value = undefined;
    form.reset();
    await readCanned();
  };
  const remove = async (replyId: string) => {
    await attempt(() => call(removeCannedReply, { params: { ...params, replyId } }));
    await readCanned();
  };
  const one = editing.value;
  return (
    <>
      {canned.value.length === 0 && <p>{t.noReplies}</p>}
      <ul class="cards">
        {canned.value.map((reply) => (
          <li key={reply.reply_id}>
            <strong>/{reply.shortcut}</strong> {reply.shared && <span class="mark">{t.shared}</span>}
            <p class="said">{reply.body}</p>
            {(!reply.shared || isAdmin.value) && (
              <p class="line">
                <button type="button" onClick={() => (editing.value = reply)}>
                  {texts.value.knowledge.edit}
                  <span class="hidden"> {reply.shortcut}</span>
                </button>
                <button type="button" class="danger" onClick={() => void remove(reply.reply_id)}>
                  {texts.value.remove}
                  <span class="hidden"> {reply.shortcut}</span>
                </button>
              </p>
            )}
          </li>
        ))}
      </ul>
      <h2>{one ? `/${one.shortcut}` : t.addReply}</h2>
      <Form key={one?.reply_id ?? ''} send={send} action={texts.value.save} done={texts.value.saved}>
        {(wrong) => (
          <>
            <Field label={t.shortcut} error={wrong('shortcut')}>
              <input name="shortcut" type="text" required defaultValue={one?.shortcut ?? ''} />
            </Field>
            <Field label={t.body} error={wrong('body')}>
              <textarea name="body" rows={4} required defaultValue={one?.body ?? ''} />
            </Field>
            {isAdmin.value && (
              <label>
                <input name="shared" type="checkbox" defaultChecked={one?.shared ?? false} /> {t.shared}
              </label>
            )}
          </>
        )}
      </Form>
    </>
  );
}
