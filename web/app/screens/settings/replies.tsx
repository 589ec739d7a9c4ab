/** Canned replies: the member's own replies, and those that all members share. */
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import {
  changeCannedReply,
  createCannedReply,
  removeCannedReply,
  type CannedReply,
} from '../../../../api/chat/contract/cannedreplies.ts';
import { Form } from '../frame/form.tsx';
import { Act } from '../../parts/act.tsx';
import { Text, textOf, Tick } from '../../parts/field.tsx';
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
                <Act name={texts.value.knowledge.edit} of={reply.shortcut} act={() => (editing.value = reply)} />
                <Act name={texts.value.remove} of={reply.shortcut} kind="danger" act={() => remove(reply.reply_id)} />
              </p>
            )}
          </li>
        ))}
      </ul>
      <h2>{one ? `/${one.shortcut}` : t.addReply}</h2>
      <Form key={one?.reply_id ?? ''} send={send} action={texts.value.save} done={texts.value.saved}>
        <Text name="shortcut" label={t.shortcut} required defaultValue={one?.shortcut ?? ''} />
        <Text name="body" label={t.body} rows={4} required defaultValue={one?.body ?? ''} />
        {isAdmin.value && <Tick name="shared" label={t.shared} checked={one?.shared ?? false} />}
      </Form>
    </>
  );
}
