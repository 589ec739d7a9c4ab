/** The route by which a member gets a socket that shows how the inbox changes. */
import { randomBytes } from 'node:crypto';
import { member } from '../../access/auth.ts';
import { self } from '../../access/profile.ts';
import * as contract from '../contract/live.ts';
import { liveTicket, type Ticket } from '../staffstream.ts';
import { route } from '../../http/route.ts';
import { keepState } from '../../../models/base/onetimestate.ts';

/** The address of the socket is valid for this many seconds. */
const ticketSeconds = 30;

export const liveRoutes = [
  route(contract.openLive, {
    summary: 'An address for a WebSocket that shows you each change of the inbox as it happens.',
    auth: member(),
    status: 201,
    async handle({ params: { orgId }, principal: { userId } }, { secrets, clock, config }) {
      const state = randomBytes(24).toString('base64url');
      const ticket: Ticket = { orgId, userId, epoch: (await self(userId)).epoch };
      const kept = { secrets, now: clock(), seconds: ticketSeconds };
      const expiresAt = await keepState({ state, ...liveTicket }, ticket, kept);
      const base = config.publicUrl.replace(/^http/, 'ws');
      return { ws_url: `${base}/v1/support/live/ws/${orgId}?ticket=${state}`, expires_at: expiresAt };
    },
  }),
];
