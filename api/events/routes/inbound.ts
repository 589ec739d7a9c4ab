/** Routes by which members see the events of other services, with the effect of each or why it had none. */
import { key } from '../../access/auth.ts';
import * as contract from '../contract/inbound.ts';
import { afterCursor, defaultLimit, listPage } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { listInbound } from '../../../models/events/inbound.ts';

export const inboundRoutes = [
  route({
    name: 'listInbound',
    method: 'GET',
    path: '/support/inbound/orgs/{orgId}',
    summary: 'Events of other services, newest first: what each did, or why it did nothing.',
    auth: key('support:read'),
    params: contract.orgParams,
    query: contract.inboundQuery,
    reply: contract.inboundReply,
    async handle({ params: { orgId }, query, principal: { modes } }) {
      const limit = query.limit ?? defaultLimit;
      const { provider, status, cursor } = query;
      const found = await listInbound(
        orgId,
        { modes, provider, status },
        { limit: limit + 1, before: afterCursor(cursor) },
      );
      const page = listPage(found, limit);
      return {
        inbound: page.entries.map((entry) => ({
          ...entry,
          inbound_id: entry._id,
          reason: entry.reason ?? null,
          outcome: entry.outcome ?? null,
          received_at: entry.received_at.toISOString(),
          settled_at: entry.settled_at?.toISOString() ?? null,
          next_attempt_at: entry.next_at?.toISOString() ?? null,
        })),
        cursor: page.cursor,
      };
    },
  }),
];
