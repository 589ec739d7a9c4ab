/**
 * A conversation as a stream of api/live: who may connect, which frames a new socket gets first, and when it is closed.
 * api/chat/frames.ts handles the client's frames.
 */
import { chosenConversation } from './conversation.ts';
import { admitEmbed, recheckEmbed } from './embed.ts';
import { createFrameTaker, type ChatClient } from './frames.ts';
import { greet } from './greeting.ts';
import { readSession } from '../access/sessions.ts';
import type { Context } from '../context.ts';
import { clientFrame, type ClientFrame } from './contract/chat.ts';
import { networkOf } from '../http/address.ts';
import { toProblem } from '../http/errors.ts';
import { createLimiter } from '../http/limits.ts';
import type { SocketMetrics } from '../http/metrics.ts';
import { createPresence } from '../live/presence.ts';
import { resumeFromOf } from '../live/resume.ts';
import type { ConnectRequest, StreamKind, StreamSocket } from '../live/stream.ts';
import { endedAmong, findSession, SessionModel } from '../../models/access/session.ts';
import { ConversationModel } from '../../models/chat/conversation.ts';
import { removedAmong, streamOf } from '../../models/chat/log.ts';
import type { Person } from '../../models/live/presence.ts';
import { noSuch, Problem } from '../../models/rules/base/errors.ts';

/** The most sockets (tabs) of one customer's session in one process. */
const socketsPerSession = 10;
/**
 * While the record of an expired session is read, the session counts as valid for this many ms, because another
 * connection may have prolonged it. After a failed read, the record is read again when this time is over.
 */
const expiryCheckMs = 5_000;
/** The credentials of an embedded chat are checked again at this interval, in ms. */
const recheckMs = 60_000;

export function createChatStreams(ctx: Context, metrics: SocketMetrics): StreamKind<ChatClient, ClientFrame> {
  const limit = createLimiter(ctx.config);
  const presence = createPresence(ctx);

  /** Identifies the customer by a session token, or by the credentials of a page that embeds the chat. */
  async function identify({ query, origin, address }: ConnectRequest): Promise<ChatClient> {
    const text = (name: string) => query.get(name) ?? undefined;
    const token = text('sessionToken');
    if (token !== undefined)
      return { customer: await readSession(ctx, token, address), embed: undefined, conversation: undefined };
    const pk = text('pk');
    if (pk === undefined) {
      throw new Problem('UNAUTHENTICATED', { message: 'Connect with `sessionToken`, or with `pk` and `visitorId`.' });
    }
    const admission = { pk, origin, email: text('email'), sig: text('sig') };
    const visitor = { visitorId: text('visitorId') ?? '', productType: text('productType'), address };
    const customer = await admitEmbed(ctx, { ...admission, ...visitor });
    // The random delay spreads the checks of sockets that reconnected together after a restart.
    const recheckAt = ctx.clock().getTime() + Math.random() * recheckMs;
    return { customer, embed: { ...admission, recheckAt }, conversation: undefined };
  }

  /** @throws Problem RATE_LIMITED, UNAUTHENTICATED, ORIGIN_NOT_ALLOWED, VALIDATION, NOT_FOUND. */
  async function admit(request: ConnectRequest): Promise<ChatClient> {
    // The limit is checked before anything is read from the database, so that a refused client costs no read.
    await limit('address_connects', networkOf(request.address));
    const client = await identify(request);
    const { orgId, sessionId } = client.customer;
    if (orgId !== request.params['orgId']) throw noSuch('organization');
    // The limit is checked before the history is read and sent again, so that frequent reconnections do not cause these
    // reads.
    await limit('connects', sessionId);
    return client;
  }

  /**
   * Refuses a socket whose session has expired. Each new connection prolongs an embedded chat's session, so only the
   * session's record says when it expires.
   */
  async function checkExpiry(socket: StreamSocket, client: ChatClient): Promise<void> {
    const { customer } = client;
    client.customer = { ...customer, expiresAt: new Date(customer.expiresAt.getTime() + expiryCheckMs) };
    try {
      const session = await findSession(customer.orgId, customer.sessionId);
      if (session && session.expires_at > ctx.clock()) client.customer = { ...customer, expiresAt: session.expires_at };
      else socket.refuse(sessionEnded());
    } catch (error) {
      ctx.log.warn({ err: error }, 'a session was not looked up; it is again in a moment');
    }
  }

  /**
   * Checks an embedded chat's credentials again, because its key, origin or secret may have been revoked since it
   * connected.
   */
  async function recheck(socket: StreamSocket, { customer, embed }: ChatClient): Promise<void> {
    const now = ctx.clock().getTime();
    if (!embed || embed.recheckAt > now) return;
    embed.recheckAt = now + recheckMs;
    try {
      await recheckEmbed(ctx, customer, embed);
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status < 500) socket.refuse(problem);
      else ctx.log.warn({ err: error }, 'an embed was not checked; it is again in a minute');
    }
  }

  return {
    path: /^\/v1\/support\/chat\/ws\/(?<orgId>[\w-]{1,100})$/,
    metrics,
    streams: {
      collection: ConversationModel.collection.collectionName,
      ended: () => new Problem('NOT_FOUND', { message: 'There is no such conversation any more; connect anew.' }),
      endedAmong: removedAmong,
    },
    credentials: {
      collection: SessionModel.collection.collectionName,
      endedBy: 'revoked_at',
      ended: sessionEnded,
      of: ({ customer }) => customer.sessionId,
      maxSockets: socketsPerSession,
      endedAmong,
    },
    admit,
    async open(socket, client, { query }) {
      const { customer } = client;
      const choose = () => chosenConversation(customer, query.get('conv_id') ?? undefined, ctx.clock());
      const [session, found] = await Promise.all([
        // Credentials are cached briefly when a client is admitted. This socket may have subscribed after a revocation
        // was published, so the session is read again here.
        findSession(customer.orgId, customer.sessionId),
        choose(),
      ]);
      if (!session || session.revoked_at) throw sessionEnded();
      let chosen = found;
      // `greet` returns false if the conversation was removed meanwhile; an empty conversation is removed when an older
      // one is reopened. `choose` then throws if the client named the conversation, and else chooses another one.
      while (!(await greet(socket, chosen, resumeFromOf(query)))) chosen = await choose();
      // The reference reuses the principal's strings, which are in memory anyway, so that a socket takes less memory.
      client.conversation = { _id: chosen._id, org_id: customer.orgId, mode: customer.mode };
      return streamOf(client.conversation);
    },
    frame: clientFrame,
    take: createFrameTaker(ctx, limit),
    came: (client) => presence.came(customerIn(client)),
    left: (client) => presence.left(customerIn(client)),
    close: () => presence.close(),
    logged: ({ customer: { orgId, sessionId } }) => ({ org_id: orgId, session_id: sessionId }),
    check(socket, client) {
      if (client.customer.expiresAt <= ctx.clock()) void checkExpiry(socket, client);
      void recheck(socket, client);
    },
  };
}

/** A customer's presence is stored per conversation, so the conversation's id is the `personId`. */
const customerIn = ({ conversation }: ChatClient): Person => ({
  orgId: conversation!.org_id,
  personId: conversation!._id,
});

const sessionEnded = (): Problem =>
  new Problem('UNAUTHENTICATED', { message: 'This session has expired or was revoked; begin another one.' });
