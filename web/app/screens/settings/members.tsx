/** Who is in the organization, with which role, and who is invited. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { addMember, changeRole, listMembers, removeMember, type Member } from '../../../../api/access/contract/orgs.ts';
import { listInvitations, revokeInvitation } from '../../../../api/access/contract/accounts.ts';
import { Confirm } from '../frame/confirm.tsx';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { readPages } from '../frame/more.tsx';
import { Secret } from '../frame/secret.tsx';
import { Act } from '../../parts/act.tsx';
import { Options, Select, Text, textOf, Tick } from '../../parts/field.tsx';
import { Table } from '../../parts/table.tsx';
import { isAdmin, org, orgId } from '../../state/session.ts';
import { toast } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export function Members() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  const pending = async () => {
    // All pages are read, because a pending invitation may come after any number of other invitations.
    const { entries } = await readPages(Infinity, listInvitations, 'invitations', { params, query: { limit: 100 } });
    return entries.filter(({ status }) => status === 'pending');
  };
  const { data, error, again, act } = useLoaded(async () => {
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
  const change = (made: () => Promise<unknown>) => act(made, texts.value.saved);
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
      <Table heads={[texts.value.name, texts.value.email, t.role]} acts={texts.value.remove}>
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
                  void change(() =>
                    call(changeRole, {
                      params: { ...params, userId: one.userId },
                      body: { role: currentTarget.value as Member['role'] },
                    }),
                  )
                }
              >
                <Options names={t.roles} />
              </select>
            </td>
            <td>
              {isAdmin.value && (
                <Act name={texts.value.remove} of={one.name} kind="danger" act={() => (removing.value = one)} />
              )}
            </td>
          </tr>
        ))}
      </Table>
      {isAdmin.value && (
        <Form send={invite} action={t.invite}>
          <Text name="email" label={texts.value.email} type="email" required />
          <Select name="role" label={t.role} names={t.roles} chosen="member" />
        </Form>
      )}
      {link.value && (
        <section role="status">
          <p>{t.inviteLink}</p>
          <Secret text={link.value} label={t.invite} />
        </section>
      )}
      {data.invitations.length > 0 && <h2>{t.invitations}</h2>}
      <ul>
        {data.invitations.map(({ invitation_id, email, role }) => (
          <li key={invitation_id} class="line">
            {email} ({t.roles[role]})
            <Act
              name={texts.value.withdraw}
              of={email}
              act={() => change(() => call(revokeInvitation, { params: { ...params, invitationId: invitation_id } }))}
            />
          </li>
        ))}
      </ul>
      {removing.value && (
        <Confirm
          title={t.removeAsk(removing.value.name)}
          action={texts.value.remove}
          act={() =>
            change(() =>
              call(removeMember, {
                params: { ...params, userId: removing.value!.userId },
                query: keep.value ? { keep_keys: 'true' } : {},
              }),
            )
          }
          closed={() => (removing.value = undefined)}
        >
          {isOwner && <Tick label={t.keepKeys} checked={keep.value} change={(on) => (keep.value = on)} />}
        </Confirm>
      )}
    </>
  );
}
