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
import { Problem, sought } from '../../../models/rules/base/errors.ts';

const view = (reply: CannedReply) => ({ ...reply, reply_id: reply._id, shared: reply.owner === null });

/** @throws Problem MISSING_ROLE when a member below the role admin changes a reply that all members share. */
function checkSharing({ role }: MemberPrincipal, ...shared: boolean[]): void {
  if (shared.includes(true) && !hasRole(role, 'admin'))
    throw new Problem('MISSING_ROLE', { message: 'Only admins and owners change what all members have.' });
}

/** @throws Problem NOT_FOUND, also for a reply that belongs to another member only. */
const mine = ({ orgId, userId }: MemberPrincipal, replyId: string): Promise<CannedReply> =>
  sought(findCannedReply(orgId, userId, replyId), 'canned reply');

export const cannedReplyRoutes = [
  route(contract.listCannedReplies, {
    summary: 'Your canned replies and those that all members have, by shortcut.',
    auth: member(),
    async handle({ principal: { orgId, userId } }) {
      return { replies: (await listCannedReplies(orgId, userId)).map(view) };
    },
  }),
  route(contract.createCannedReply, {
    summary: 'Add a canned reply, for yourself or as an admin for all.',
    auth: member(),
    status: 201,
    async handle({ body: { shared = false, ...given }, principal }, ctx) {
      checkSharing(principal, shared);
      const owner = shared ? null : principal.userId;
      return { reply: view(await createCannedReply({ ...given, org_id: principal.orgId, owner }, ctx.clock())) };
    },
  }),
  route(contract.changeCannedReply, {
    summary: 'Change a canned reply; what is left out stays.',
    auth: member(),
    async handle({ params, body: { shared, ...given }, principal }, ctx) {
      const standing = await mine(principal, params.replyId);
      checkSharing(principal, standing.owner === null, shared === true);
      const owner = shared === undefined ? {} : { owner: shared ? null : principal.userId };
      const changing = changeCannedReply(standing, { ...defined(given), ...owner }, ctx.clock());
      return { reply: view(await sought(changing, 'canned reply')) };
    },
  }),
  route(contract.removeCannedReply, {
    summary: 'Remove a canned reply.',
    auth: member(),
    async handle({ params: { replyId }, principal }) {
      const standing = await mine(principal, replyId);
      checkSharing(principal, standing.owner === null);
      await removeCannedReply(standing);
      return { reply_id: replyId, removed: true as const };
    },
  }),
];
