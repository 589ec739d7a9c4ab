/**
 * Who may open a socket of the chat, and how often: by the address they connect to and the network they come from. What
 * happens in the socket is api/chat/stream.ts's.
 */
import type { SessionPrincipal } from '../access/auth.ts';
import { createSessionAuth, type Admission } from './embed.ts';
import type { Context } from '../context.ts';
import { networkOf } from '../http/address.ts';
import type { Limiter } from '../http/limits.ts';
import type { ConnectRequest } from '../live/stream.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** How often an embed is checked again, in ms. */
const recheckMs = 60_000;

/** What let an embed in, and when it is checked again, in ms since 1970. */
export type EmbedAdmission = Admission & { recheckAt: number };

/** Who was let in; of an embed with what may be revoked. */
export type Admitted = { customer: SessionPrincipal; embed: EmbedAdmission | undefined };

export type ChatAdmission = {
  /** @throws Problem: RATE_LIMITED, UNAUTHENTICATED, ORIGIN_NOT_ALLOWED, VALIDATION, NOT_FOUND. */
  admit(request: ConnectRequest): Promise<Admitted>;
  /** Checks an embed again when its time has come. @throws Problem as `admit` does when it would not be let in any more. */
  recheck(customer: SessionPrincipal, embed: EmbedAdmission): Promise<void>;
};

export function createChatAdmission(ctx: Context, limit: Limiter): ChatAdmission {
  const auth = createSessionAuth(ctx);

  async function identify({ query, origin, address }: ConnectRequest): Promise<Admitted> {
    const text = (name: string) => query.get(name) ?? undefined;
    const token = text('sessionToken');
    if (token !== undefined) return { customer: await auth.byToken(token, address), embed: undefined };
    const pk = text('pk');
    if (pk === undefined) {
      throw new Problem('UNAUTHENTICATED', { message: 'Connect with `sessionToken`, or with `pk` and `visitorId`.' });
    }
    const admission: Admission = { pk, origin, email: text('email'), sig: text('sig') };
    const visitor = { visitorId: text('visitorId') ?? '', productType: text('productType'), address };
    const customer = await auth.byEmbed({ ...admission, ...visitor });
    // Sockets that were opened together, after a restart, are not all checked in the same moment.
    return { customer, embed: { ...admission, recheckAt: ctx.clock().getTime() + Math.random() * recheckMs } };
  }

  return {
    async admit(request) {
      // Before anything is read from the database.
      await limit('address_connects', networkOf(request.address));
      const admitted = await identify(request);
      const { orgId, sessionId } = admitted.customer;
      if (orgId !== request.params['orgId']) {
        throw new Problem('NOT_FOUND', { message: 'There is no such organization.' });
      }
      // Before the history is read and sent once more.
      await limit('connects', sessionId);
      return admitted;
    },
    async recheck(customer, embed) {
      const now = ctx.clock().getTime();
      if (embed.recheckAt > now) return;
      embed.recheckAt = now + recheckMs;
      await auth.recheck(customer, embed);
    },
  };
}
