/**
 * Invites a person into an organization: by mail if one can be sent, else by a link that the inviter passes on. An
 * accepted invitation verifies the person's e-mail address only if the deployment's own mail server sent the link. With
 * any other link, the account with that address joins, and its address stays unverified.
 */
import { countMail } from './accountmail.ts';
import type { MemberPrincipal } from './auth.ts';
import type { Context } from '../context.ts';
import { consume, createRate } from '../http/limits.ts';
import { perConfig } from '../http/perconfig.ts';
import { newId } from '../../models/base/ids.ts';
import { replaceInvitation, type Invitation } from '../../models/access/invitation.ts';
import { proofHash, proofToken } from '../../models/access/prooftoken.ts';
import { findUserByEmail } from '../../models/access/user.ts';
import { invitationMs, linkOf } from '../../models/rules/access/account.ts';
import { normalizeEmail } from '../../models/rules/access/email.ts';
import { checkAdding, type Role } from '../../models/rules/access/roles.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const rate = perConfig((config) => createRate(config, 'invitations'));

/**
 * `link`: the inviter passes this link on. It is set when no mail can be sent or the recipient has opted out.
 * @throws Problem MISSING_ROLE, ALREADY_MEMBER, RATE_LIMITED
 */
export async function invite(
  ctx: Context,
  { orgId, org, role: own, userId }: MemberPrincipal,
  asked: { email: string; role: Role },
): Promise<{ invitation: Invitation; link?: string }> {
  const { role } = asked;
  checkAdding(own, role);
  const email = normalizeEmail(asked.email);
  const known = await findUserByEmail(email);
  if (org.members.some(({ user_id }) => user_id === known?._id)) throw new Problem('ALREADY_MEMBER');
  await consume(rate(ctx.config), ctx.config, 'invitations', userId);
  const { publicUrl } = ctx.config;
  const { secrets } = ctx;
  const now = ctx.clock();
  const _id = newId('invitation');
  const mailed = await ctx.hooks.canInviteByMail(ctx, orgId, email);
  if (mailed) {
    await countMail(ctx, 'invitation', email);
    await ctx.hooks.countOutside(ctx, { orgId, address: email, account: userId, use: _id }, now);
  }
  const invitation = await replaceInvitation({
    _id,
    org_id: orgId,
    email,
    role,
    hash: proofHash(secrets, 'invitation', _id),
    link_hash: proofHash(secrets, 'invitation_link', _id),
    invited_by: userId,
    created_at: now,
    expires_at: new Date(now.getTime() + invitationMs),
  });
  if (!mailed)
    return { invitation, link: linkOf(publicUrl, 'invitation', proofToken(secrets, 'invitation_link', _id)) };
  await ctx.hooks.mailAccount(ctx, { kind: 'invitation', invitation_id: _id, email }, orgId);
  return { invitation };
}

export function viewInvitation(invitation: Invitation, now: Date) {
  const { _id, status, expires_at } = invitation;
  const isExpired = status === 'pending' && expires_at <= now;
  return { ...invitation, invitation_id: _id, status: isExpired ? ('expired' as const) : status };
}
