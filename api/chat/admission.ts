/**
 * Decides who may open a chat socket, and how often: by the organization in the path, the credential and the caller's
 * network. api/chat/stream.ts handles the open socket.
 */
import type { SessionPrincipal } from '../access/auth.ts';
import { createSessionAuth, type Admission } from './embed.ts';
import type { Context } from '../context.ts';
import { networkOf } from '../http/address.ts';
import type { Limiter } from '../http/limits.ts';
import type { ConnectRequest } from '../live/stream.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const recheckMs = 60_000;

/** The credentials that admitted an embedded chat, and when they are checked again (ms since 1970). */
export type EmbedAdmission = Admission & { recheckAt: number };

/** The admitted customer; for an embedded chat also the credentials that may be revoked. */
export type Admitted = { customer: SessionPrincipal; embed: EmbedAdmission | undefined };

export type ChatAdmission = {
  /** @throws Problem RATE_LIMITED, UNAUTHENTICATED, ORIGIN_NOT_ALLOWED, VALIDATION, NOT_FOUND. */
  admit(request: ConnectRequest): Promise<Admitted>;
  /** Checks an embedded chat's credentials again if `recheckAt` has passed. @throws Problem as `admit` does. */
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
    // The random delay spreads the checks of sockets that reconnected together after a restart.
    return { customer, embed: { ...admission, recheckAt: ctx.clock().getTime() + Math.random() * recheckMs } };
  }

  return {
    async admit(request) {
      // The limit is checked before anything is read from the database.
      await limit('address_connects', networkOf(request.address));
      const admitted = await identify(request);
      const { orgId, sessionId } = admitted.customer;
      if (orgId !== request.params['orgId']) {
        throw new Problem('NOT_FOUND', { message: 'There is no such organization.' });
      }
      // The limit is checked before the history is read and sent again.
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
