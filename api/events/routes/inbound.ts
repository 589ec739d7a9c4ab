/** Routes by which members see the events of other services, with the effect of each or why it had none. */
import { key } from '../../access/auth.ts';
import * as contract from '../contract/inbound.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { listInbound } from '../../../models/events/inbound.ts';

export const inboundRoutes = [
  route(contract.listInbound, {
    summary: 'Events of other services, newest first: what each did, or why it did nothing.',
    auth: key('support:read'),
    async handle({ params: { orgId }, query, principal: { modes } }) {
      const { provider, status } = query;
      const { entries, cursor } = await paged(query, (limit, before) =>
        listInbound(orgId, { modes, provider, status }, { limit, before }),
      );
      return {
        inbound: entries.map((entry) => ({ ...entry, inbound_id: entry._id, next_attempt_at: entry.next_at })),
        cursor,
      };
    },
  }),
];
