/** Who is in the organization, with which role, and who is invited. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import {
  addMember,
  changeRole,
  listInvitations,
  listMembers,
  removeMember,
  revokeInvitation,
  type Member,
} from '../../api/operations.ts';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { readPages } from '../frame/more.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { Secret } from '../../parts/secret.tsx';
import { isAdmin, org, orgId } from '../../state/session.ts';
import { attempt, toast } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export function Members() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  const pending = async () => {
    // All pages are read, because a pending invitation may stand behind any number of others.
    const { entries } = await readPages(Infinity, async (cursor) => {
      const { invitations, cursor: next } = await call(listInvitations, { params, query: { limit: 100, cursor } });
      return { entries: invitations, cursor: next };
    });
    return entries.filter(({ status }) => status === 'pending');
  };
  const { data, error, again } = useLoaded(async () => {
    const [{ members }, invitations] = await Promise.all([
      call(listMembers, { params }),
      isAdmin.value ? pending() : [],
    ]);
    return { members, invitations };
  });
  const link = useSignal('');
  const removing = useSignal<Member | undefined>(undefined);
  const keep = useSignal(false);
  const isOwner = org.value?.role === 'owner';
  const act = async (made: () => Promise<unknown>) => {
    await attempt(made, texts.value.saved);
    await again();
  };
  const invite = async (form: HTMLFormElement) => {
    const body = { email: textOf(form, 'email'), role: textOf(form, 'role') as Member['role'] };
    const made = await call(addMember, { params, body });
    link.value = made.link ?? '';
    if (!made.link) toast(made.member ? t.added : t.invited);
    form.reset();
    await again();
  };
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  return (
    <>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{t.name}</th>
              <th scope="col">{t.email}</th>
              <th scope="col">{t.role}</th>
              <th scope="col">
                <span class="hidden">{texts.value.remove}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.members.map((one) => (
              <tr key={one.userId}>
                <th scope="row">
                  {one.name} <small>{texts.value[one.state]}</small>
                </th>
                <td>
                  {one.email} {!one.email_verified && <small>{t.unproven}</small>}
                </td>
                <td>
                  <select
                    aria-label={`${t.role}: ${one.name}`}
                    value={one.role}
                    disabled={!isOwner}
                    onChange={({ currentTarget }) =>
                      void act(() =>
                        call(changeRole, {
                          params: { ...params, userId: one.userId },
                          body: { role: currentTarget.value as Member['role'] },
                        }),
                      )
                    }
                  >
                    {Object.entries(t.roles).map(([role, name]) => (
                      <option key={role} value={role}>
                        {name}
                      </option>
                    ))}
                  </select>
                </td>
                <td>
                  {isAdmin.value && (
                    <button type="button" class="danger" onClick={() => (removing.value = one)}>
                      {texts.value.remove}
                      <span class="hidden"> {one.name}</span>
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isAdmin.value && (
        <Form send={invite} action={t.invite}>
          {(wrong) => (
            <>
              <Field label={t.email} error={wrong('email')}>
                <input name="email" type="email" required />
              </Field>
              <Field label={t.role} error={wrong('role')}>
                <select name="role">
                  {Object.entries(t.roles).map(([role, name]) => (
                    <option key={role} value={role} selected={role === 'member'}>
                      {name}
                    </option>
                  ))}
                </select>
              </Field>
            </>
          )}
        </Form>
      )}
      {link.value && (
        <section role="status">
          <p>{t.inviteLink}</p>
          <Secret text={link.value} label={t.invite} copy={texts.value.copy} copied={() => toast(texts.value.copied)} />
        </section>
      )}
      {data.invitations.length > 0 && <h2>{t.invitations}</h2>}
      <ul>
        {data.invitations.map(({ invitation_id, email, role }) => (
          <li key={invitation_id} class="line">
            {email} ({t.roles[role]})
            <button
              type="button"
              onClick={() =>
                void act(() => call(revokeInvitation, { params: { ...params, invitationId: invitation_id } }))
              }
            >
              {t.withdraw}
              <span class="hidden"> {email}</span>
            </button>
          </li>
        ))}
      </ul>
      {removing.value && (
        <Confirm
          title={t.removeAsk(removing.value.name)}
          action={texts.value.remove}
          cancel={texts.value.cancel}
          act={() =>
            void act(() =>
              call(removeMember, {
                params: { ...params, userId: removing.value!.userId },
                query: keep.value ? { keep_keys: 'true' } : {},
              }),
            )
          }
          closed={() => (removing.value = undefined)}
        >
          {isOwner && (
            <label>
              <input
                type="checkbox"
                checked={keep.value}
                onChange={({ currentTarget }) => (keep.value = currentTarget.checked)}
              />{' '}
              {t.keepKeys}
            </label>
          )}
        </Confirm>
      )}
    </>
  );
}
