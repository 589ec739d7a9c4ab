/**
 * Who gets in at the door of the chat's sockets, and how often: by the address they chose and the network they come from.
 * What happens inside is api/chat/sockets.ts's.
 */
import { networkOf } from '../http/address.ts';
import type { SessionPrincipal } from '../access/auth.ts';
import type { Context } from '../context.ts';
import type { Limiter } from '../http/limits.ts';
import { createSessionAuth, type Admission } from '../access/sessions.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** How often what let an embed in is looked at again, in ms. */
const LOOK_AGAIN_MS = 60_000;

/** What let an embed in, and when it is looked at again, in ms since 1970. */
export type Pass = Admission & { lookAt: number };

/** Who came in; of an embed with what may be taken back. */
export type Entered = { customer: SessionPrincipal; pass: Pass | undefined };

export type Knock = {
  /** The organization in the path. */
  orgId: string;
  query: URLSearchParams;
  /** The `Origin` header. */
  origin: string | undefined;
  address: string;
};

export type Door = {
  /** @throws Problem: RATE_LIMITED, UNAUTHENTICATED, ORIGIN_NOT_ALLOWED, VALIDATION, NOT_FOUND. */
  enter(knock: Knock): Promise<Entered>;
  /** Looks at an embed again when its time has come. @throws Problem as at the door when it would not get in any more. */
  lookAgain(customer: SessionPrincipal, pass: Pass): Promise<void>;
};

export function createDoor(ctx: Context, limit: Limiter): Door {
  const auth = createSessionAuth(ctx);

  async function identify({ query, origin, address }: Knock): Promise<Entered> {
    const text = (name: string) => query.get(name) ?? undefined;
    const token = text('sessionToken');
    if (token !== undefined) return { customer: await auth.byToken(token, address), pass: undefined };
    const pk = text('pk');
    if (pk === undefined) {
      throw new Problem('UNAUTHENTICATED', { message: 'Connect with `sessionToken`, or with `pk` and `visitorId`.' });
    }
    const admission: Admission = { pk, origin, email: text('email'), sig: text('sig') };
    const visitor = { visitorId: text('visitorId') ?? '', productType: text('productType'), address };
    const customer = await auth.byEmbed({ ...admission, ...visitor });
    // Those that came together, after a restart, are not all looked at in the same moment.
    return { customer, pass: { ...admission, lookAt: ctx.clock().getTime() + Math.random() * LOOK_AGAIN_MS } };
  }

  return {
    async enter(knock) {
      // Before anything is read for it.
      await limit('address_connects', networkOf(knock.address));
      const entered = await identify(knock);
      const { orgId, sessionId } = entered.customer;
      if (orgId !== knock.orgId) throw new Problem('NOT_FOUND', { message: 'There is no such organization.' });
      // Before the history is read and sent once more.
      await limit('connects', sessionId);
      return entered;
    },
    async lookAgain(customer, pass) {
      const now = ctx.clock().getTime();
      if (pass.lookAt > now) return;
      pass.lookAt = now + LOOK_AGAIN_MS;
      await auth.recheck(customer, pass);
    },
  };
}
