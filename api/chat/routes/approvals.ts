/** Routes by which members approve or refuse tool calls that wait for them. */
import { key, member } from '../../access/auth.ts';
import * as contract from '../contract/approvals.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { decide } from '../toolcall.ts';
import { findToolCall, listApprovals, type ToolCall } from '../../../models/mcp/call.ts';
import { noSuch } from '../../../models/rules/base/errors.ts';
import { titleOf } from '../../../models/rules/mcp/tool.ts';

const viewApproval = (call: ToolCall) => ({
  ...call,
  id: call._id,
  title: titleOf(call.tool_name),
  conversation_id: call.conv_id,
  arguments: JSON.parse(call.arguments) as Record<string, unknown>,
  expires_at: call.ask_until,
});

const decisionRoute = (verb: 'approve' | 'deny') =>
  route(verb === 'approve' ? contract.approveToolCall : contract.denyToolCall, {
    summary: `${verb === 'approve' ? 'Approve' : 'Deny'} a call that waits for a member: these arguments, once.`,
    // A person must decide, so no key is accepted.
    auth: member(),
    errors: ['CONFLICT', 'NOTHING_PENDING'],
    async handle({ params: { orgId, approvalId }, principal }, ctx) {
      const call = await findToolCall(orgId, approvalId);
      if (call?.awaited !== 'member') throw noSuch('approval');
      const approved = verb === 'approve';
      await decide(ctx, call, { by: 'member', approved, actor: principal.userId });
      return { id: approvalId, decision: approved ? ('approved' as const) : ('denied' as const) };
    },
  });

export const approvalRoutes = [
  route(contract.listToolApprovals, {
    summary: 'Calls that wait for a member, the newest first.',
    auth: key('mcp:read'),
    async handle({ params: { orgId }, query, principal }, ctx) {
      const { entries, cursor } = await paged(query, (limit, after) =>
        listApprovals(orgId, principal.modes, { limit, after, now: ctx.clock() }),
      );
      return { approvals: entries.map(viewApproval), cursor };
    },
  }),
  decisionRoute('approve'),
  decisionRoute('deny'),
];
