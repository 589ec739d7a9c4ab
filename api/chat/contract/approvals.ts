/** Zod schemas of the requests and replies about tool calls that wait for a member's approval. */
import { z } from 'zod';
import { mode } from '../../access/contract/mode.ts';
import { cursor, id, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { authScope, riskTier } from '../../mcp/contract/mcp.ts';
import { operation } from '../../base/contract/operation.ts';

export const approval = z
  .object({
    id,
    mode,
    tool_name: z.string(),
    title: z.string(),
    risk_tier: riskTier,
    auth_scope: authScope,
    conversation_id: id,
    customer_id: id,
    arguments: z.record(z.string(), z.unknown()),
    arguments_sha256: z.string(),
    created_at: timestamp,
    expires_at: orNull(timestamp),
  })
  .meta({ id: 'ToolApproval' });
const approvalsReply = z.object({ approvals: z.array(approval), cursor });
const decidedReply = z.object({ id, decision: z.enum(['approved', 'denied']) });

export type ToolApproval = z.output<typeof approval>;

export const listToolApprovals = operation('listToolApprovals', 'GET /support/mcp/orgs/{orgId}/approvals', {
  query: pageQuery,
  reply: approvalsReply,
});
export const approveToolCall = operation(
  'approveToolCall',
  'POST /support/mcp/orgs/{orgId}/approvals/{approvalId}/approve',
  { reply: decidedReply },
);
export const denyToolCall = operation('denyToolCall', 'POST /support/mcp/orgs/{orgId}/approvals/{approvalId}/deny', {
  reply: decidedReply,
});
