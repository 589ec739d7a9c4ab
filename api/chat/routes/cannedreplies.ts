/** Routes of canned replies, which members insert into their replies by a shortcut. */
import { member, type MemberPrincipal } from '../../access/auth.ts';
import * as contract from '../contract/cannedreplies.ts';
import { route } from '../../http/route.ts';
import {
  changeCannedReply,
  createCannedReply,
  findCannedReply,
  listCannedReplies,
  removeCannedReply,
  type CannedReply,
} from '../../../models/chat/cannedreply.ts';
import { hasRole } from '../../../models/rules/access/roles.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { noSuch, Problem } from '../../../models/rules/base/errors.ts';

const path = '/support/replies/orgs/{orgId}';

const view = (reply: CannedReply) => ({ ...reply, reply_id: reply._id, shared: reply.owner === null });
const noSuchReply = () => noSuch('canned reply');

/** @throws Problem MISSING_ROLE when a member below the role admin changes a reply that all members share. */
function checkSharing({ role }: MemberPrincipal, ...shared: boolean[]): void {
  if (shared.includes(true) && !hasRole(role, 'admin'))
    throw new Problem('MISSING_ROLE', { message: 'Only admins and owners change what all members have.' });
}

/** @throws Problem NOT_FOUND, also for a reply that belongs to another member only. */
async function mine({ orgId, userId }: MemberPrincipal, replyId: string): Promise<CannedReply> {
  const found = await findCannedReply(orgId, userId, replyId);
  if (!found) throw noSuchReply();
  return found;
}

export const cannedReplyRoutes = [
  route('listCannedReplies', `GET ${path}`, {
    summary: 'Your canned replies and those that all members have, by shortcut.',
    auth: member(),
    reply: contract.cannedReplyList,
    async handle({ principal: { orgId, userId } }) {
      return { replies: (await listCannedReplies(orgId, userId)).map(view) };
    },
  }),
  route('createCannedReply', `POST ${path}`, {
    summary: 'Add a canned reply, for yourself or as an admin for all.',
    auth: member(),
    body: contract.createBody,
    status: 201,
    reply: contract.oneReply,
    async handle({ body: { shared = false, ...given }, principal }, ctx) {
      checkSharing(principal, shared);
      const owner = shared ? null : principal.userId;
      return { reply: view(await createCannedReply({ ...given, org_id: principal.orgId, owner }, ctx.clock())) };
    },
  }),
  route('changeCannedReply', `PATCH ${path}/{replyId}`, {
    summary: 'Change a canned reply; what is left out stays.',
    auth: member(),
    body: contract.changeBody,
    reply: contract.oneReply,
    async handle({ params, body: { shared, ...given }, principal }, ctx) {
      const standing = await mine(principal, params.replyId);
      checkSharing(principal, standing.owner === null, shared === true);
      const owner = shared === undefined ? {} : { owner: shared ? null : principal.userId };
      const changed = await changeCannedReply(standing, { ...defined(given), ...owner }, ctx.clock());
      if (!changed) throw noSuchReply();
      return { reply: view(changed) };
    },
  }),
  route('removeCannedReply', `DELETE ${path}/{replyId}`, {
    summary: 'Remove a canned reply.',
    auth: member(),
    reply: contract.removedReply,
    async handle({ params: { replyId }, principal }) {
      const standing = await mine(principal, replyId);
      checkSharing(principal, standing.owner === null);
      await removeCannedReply(standing);
      return { reply_id: replyId, removed: true as const };
    },
  }),
];
