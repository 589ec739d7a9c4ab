/**
 * The inbox as a stream of api/live. A socket follows its member's organization, whose stream has no log of its own. A
 * frame in a conversation's log means that the conversation changed; its inbox entry is then read once, for all sockets
 * of the organization.
 */
import { readPosition, viewConversations } from './inbox.ts';
import { viewNotification } from '../access/notification.ts';
import type { Context } from '../context.ts';
import { conversation as shownConversation } from './contract/inbox.ts';
import { clientFrame, type StaffClientFrame } from './contract/live.ts';
import { notification as shownNotification } from '../access/contract/notifications.ts';
import { networkOf } from '../http/address.ts';
import { createLimiter } from '../http/limits.ts';
import type { SocketMetrics } from '../http/metrics.ts';
import { createPresence } from '../live/presence.ts';
import { madeFrame, type MadeFrame, type StreamKind, type StreamSocket } from '../live/stream.ts';
import { hereOf } from '../../models/access/here.ts';
import { notificationsOf } from '../../models/access/notification.ts';
import {
  findOrganization,
  listOrganizations,
  OrganizationModel,
  roleOf,
  type Organization,
} from '../../models/access/organization.ts';
import { findUser, listUsers, UserModel } from '../../models/access/user.ts';
import { takeState } from '../../models/base/onetimestate.ts';
import { isIdOf } from '../../models/base/ids.ts';
import { findConversation, type Conversation } from '../../models/chat/conversation.ts';
import { erasuresSince } from '../../models/chat/erasure.ts';
import { listInboxOf } from '../../models/chat/inbox.ts';
import { memberPresence, userOfPresence } from '../../models/live/presence.ts';
import { isStaffStream, tellStaff, type StaffFrame } from '../../models/live/staff.ts';
import { modes, type Mode } from '../../models/rules/access/keys.ts';
import type { Doing } from '../../models/rules/live/staff.ts';
import { noSuch, Problem } from '../../models/rules/base/errors.ts';

/** The key under which the one-time tickets are stored. The URL of a member's socket contains such a ticket. */
export const liveTicket = { purpose: 'live' };

/** The most sockets (tabs) of one member in one process. */
const socketsPerMember = 20;
/**
 * Changes are gathered this long, in ms, so that many changes of a conversation cost one read, and one write to each
 * page.
 */
const gatherMs = 150;
/**
 * If more conversations than this changed while a page was disconnected, the page is told to load the inbox again
 * (`reload`).
 */
const maxResumed = 200;
/** Clocks of processes may differ by this much, in ms. */
const skewMs = 5_000;
/** What a member does (reading, writing) is shown for this many ms after the page's last report. */
const doingMs = 60_000;
/** A socket must be opened anew after this long, in ms, with a login that is still valid. */
const socketMs = 3_600_000;
/** Frames of customers' logs that do not change the conversation's entry in the inbox. */
const unchanging: ReadonlySet<string> = new Set(['typing', 'reply_start', 'reply_chunk', 'notice']);

/** A piece of an answer in a customer's log. */
type Piece = { message_id: string; body?: string };

/**
 * `epoch`: the user's `epoch` when the page requested the socket's address. A higher `epoch` means that the user's
 * logins have ended since.
 */
export type Ticket = { orgId: string; userId: string; epoch: number };
type Staff = Ticket & {
  modes: readonly Mode[];
  until: Date;
  /** The member's socket; set when it is open. */
  socket?: StreamSocket;
  /** The changes since this time are still to be sent; undefined once they were sent. */
  since: Date | undefined;
  /** The last `at` that a frame sent to the page; set when the socket is open. */
  toldAt?: string;
  /** The conversations that are open on this page, as the page reported. */
  views: Set<string>;
  /** The result of `erasuresSince` for which the page was last told to reload. */
  erasures?: string;
};

/** Returns the frame for a member's socket; undefined when the frame is not meant for that socket. */
type Told = (staff: Staff) => MadeFrame | undefined;
/**
 * The changes to send next to an organization's members: finished frames, and ids of records, which are read only when
 * they are sent.
 */
type Gathered = { conversations: Set<string>; members: Set<string>; notices: Set<string>; told: Told[] };

function toldTo(type: string, body: object, to: (staff: Staff) => boolean = () => true): Told {
  const made = madeFrame(type, body);
  return (staff) => (to(staff) ? made : undefined);
}

export function createStaffStreams(ctx: Context, metrics: SocketMetrics): StreamKind<Staff, StaffClientFrame> {
  const { clock, log } = ctx;
  const limit = createLimiter(ctx.config);
  const staffOf = new Map<string, Set<Staff>>();
  /** The changes to send next, by organization. */
  const gathered = new Map<string, Gathered>();
  let gathering: NodeJS.Timeout | undefined;
  /** The time of the last frame that this process received; at first, the time of its start. */
  let heardAt = clock();
  /**
   * What members do in conversations, by conversation and user, for organizations that have a socket in this process.
   */
  const viewed = new Map<string, { orgId: string; conv_id: string; user_id: string; doing: Doing; until: number }>();
  /** Answers that are being written, in conversations that are open on a page with a socket in this process. */
  const begun = new Map<string, { message_id: string; body: string }>();
  const presence = createPresence(ctx, (seen) => {
    for (const person of seen)
      background(tellStaff(person.orgId, { type: 'member', body: { user_id: userOfPresence(person) } }, clock()));
  });

  const background = (work: Promise<void>): void =>
    void work.catch((error: unknown) => log.warn({ err: error }, 'members were not shown a change'));
  const stamp = (): string => clock().toISOString();

  /**
   * The changes to send next to this organization's members. Frames are sent together, because a write to the network
   * costs more than a frame.
   */
  function next(orgId: string): Gathered {
    const standing = gathered.get(orgId);
    if (standing) return standing;
    const fresh = {
      conversations: new Set<string>(),
      members: new Set<string>(),
      notices: new Set<string>(),
      told: [],
    };
    gathered.set(orgId, fresh);
    gathering ??= setTimeout(leave, gatherMs).unref();
    return fresh;
  }
  function leave(): void {
    gathering = undefined;
    const leaving = [...gathered];
    gathered.clear();
    for (const [orgId, what] of leaving) background(show(orgId, what));
  }
  async function show(orgId: string, { conversations, members, notices, told }: Gathered): Promise<void> {
    const read = await Promise.all([
      changedConversations(orgId, [...conversations]),
      changedMembers(orgId, members),
      ...[...notices].map((key) => newNotifications(orgId, key)),
    ]);
    const all = [...told, ...read.flat()];
    for (const staff of staffOf.get(orgId) ?? []) staff.socket!.pass(all.flatMap((frame) => frame(staff) ?? []));
  }

  function tell(orgId: string, type: string, body: object, to: (staff: Staff) => boolean): void {
    next(orgId).told.push(toldTo(type, body, to));
  }

  async function changedConversations(orgId: string, convIds: readonly string[]): Promise<Told[]> {
    if (convIds.length === 0) return [];
    const at = stamp();
    const found = await listInboxOf(orgId, modes, { ids: convIds });
    const known = new Map(found.map((conversation) => [conversation._id, conversation]));
    const shown = (await entriesOf(orgId, found)).map((entry): Told => {
      // Only members who have opened the conversation have a read position, so most sockets get the same frame.
      const plain = madeFrame('conversation', { at, conversation: entry });
      return (staff) => {
        if (!staff.modes.includes(entry.mode)) return undefined;
        const read_position = readPosition(known.get(entry.conv_id)!, staff.userId);
        const from = resumesAt(staff, at);
        if (read_position === null && from === at) return plain;
        return madeFrame('conversation', { at: from, conversation: { ...entry, read_position } });
      };
    });
    const removed = convIds.filter((conv_id) => !known.has(conv_id));
    return [...shown, ...removed.map((conv_id) => toldTo('removed', { conv_id }))];
  }

  async function newNotifications(orgId: string, key: string): Promise<Told[]> {
    const userIds = [...new Set([...(staffOf.get(orgId) ?? [])].map(({ userId }) => userId))];
    const found = await notificationsOf(orgId, userIds, key);
    const byUser = new Map(
      found.map((one) => [
        one.user_id,
        madeFrame('notification', { notification: shownNotification.parse(viewNotification(one)) }),
      ]),
    );
    return [({ userId }) => byUser.get(userId)];
  }

  async function changedMembers(orgId: string, userIds: ReadonlySet<string>): Promise<Told[]> {
    const org = userIds.size > 0 ? await findOrganization(orgId) : null;
    if (!org) return [];
    const here = await hereOf(org, clock());
    return org.members
      .filter(({ user_id }) => userIds.has(user_id))
      .map(({ user_id }) => toldTo('member', { user_id, state: here.includes(user_id) ? 'here' : 'away' }));
  }

  function showViewing(orgId: string, viewing: { conv_id: string; user_id: string; doing: Doing }): void {
    const key = `${viewing.conv_id} ${viewing.user_id}`;
    if (viewing.doing === 'gone') viewed.delete(key);
    else viewed.set(key, { orgId, ...viewing, until: clock().getTime() + doingMs });
    tell(orgId, 'viewing', viewing, ({ userId }) => userId !== viewing.user_id);
  }

  /** Shows what happens in a conversation to the pages on which it is open. */
  const showLookers = (orgId: string, type: 'typing' | 'answer', body: { conv_id: string }): void =>
    tell(orgId, type, body, ({ views }) => views.has(body.conv_id));

  /** Shows an answer while it is written. */
  function hearAnswer(orgId: string, conv_id: string, type: string, { message_id, body = '' }: Piece): void {
    if (![...(staffOf.get(orgId) ?? [])].some(({ views }) => views.has(conv_id))) return void begun.delete(conv_id);
    const before = type === 'reply_chunk' && begun.get(conv_id);
    // The earlier chunks of this answer were not kept, because no page had the conversation open. A member who opens it
    // now sees the answer only when it is complete.
    if (type === 'reply_chunk' && (!before || before.message_id !== message_id)) return;
    const answer = { message_id, body: before ? before.body + body : '' };
    begun.set(conv_id, answer);
    showLookers(orgId, 'answer', { conv_id, ...answer });
  }

  function hearStaff(orgId: string, { type, body }: StaffFrame): void {
    if (type === 'changed') next(orgId).conversations.add(body.conv_id);
    else if (type === 'viewing') showViewing(orgId, body);
    else if (type === 'typing') showLookers(orgId, 'typing', body);
    else if (type === 'told') next(orgId).notices.add(body.key);
    else next(orgId).members.add(body.user_id);
  }

  const personOf = ({ orgId, userId }: Staff) => ({ orgId, personId: memberPresence(orgId, userId) });
  const viewing = ({ orgId, userId: user_id }: Staff, conv_id: string, doing: Doing): Promise<void> =>
    tellStaff(orgId, { type: 'viewing', body: { conv_id, user_id, doing } }, clock());

  /**
   * What a new socket is told: all members with their presence, and what members do in the conversations that they have
   * open.
   */
  async function around(org: Organization) {
    const now = clock();
    for (const [key, { until }] of viewed) if (until < now.getTime()) viewed.delete(key);
    const [users, here] = await Promise.all([listUsers(org.members.map(({ user_id }) => user_id)), hereOf(org, now)]);
    return {
      members: users.map(({ _id, name }) => ({
        user_id: _id,
        name,
        state: here.includes(_id) ? ('here' as const) : ('away' as const),
      })),
      viewing: [...viewed.values()]
        .filter(({ orgId }) => orgId === org._id)
        .map(({ conv_id, user_id, doing }) => ({ conv_id, user_id, doing })),
    };
  }

  /**
   * Sends a socket the conversations that changed since `since`. The socket missed these changes because it was not
   * open yet, or because this process missed frames. After an erasure, or during one, the page gets `reload` instead,
   * because deleted conversations are not found. While Redis is away, this function runs every two seconds, so a socket
   * gets `reload` only when an erasure has made a step since the socket's last one.
   */
  async function resume(staff: Staff, since: Date): Promise<void> {
    const { orgId, userId, modes: of, socket } = staff;
    const at = resumesAt(staff, stamp());
    const from = new Date(since.getTime() - skewMs);
    const [found, erased] = await Promise.all([
      listInboxOf(orgId, of, { since: from, limit: maxResumed + 1 }),
      erasuresSince(orgId, from),
    ]);
    const hasErased = erased !== undefined && erased !== staff.erasures;
    if (hasErased) staff.erasures = erased;
    if (hasErased || found.length > maxResumed) return socket!.tell('reload');
    for (const conversation of await entriesOf(orgId, found, userId))
      socket!.tell('conversation', { at, conversation });
  }

  /**
   * Runs once, after a socket was opened. A member who was removed in the meantime is refused here: `open` may have
   * read the members before the removal, and the removal found no socket to close.
   */
  async function begin(client: Staff): Promise<void> {
    if ((await roleOf(client.orgId, client.userId)) === undefined) return client.socket!.refuse(membersChanged());
    await catchUp(client);
  }

  /**
   * Sends a socket the changes since its `since`. Each call of `missed` sets a new `since` object, even for the same
   * time. So a read that began before that call does not clear `since`, and the changes that were missed are read
   * again.
   */
  async function catchUp(client: Staff): Promise<void> {
    const { since } = client;
    if (since) await resume(client, since);
    if (client.since === since) client.since = undefined;
  }

  /** Refuses the socket when `work`, which sends it the missed changes, fails. The page then reconnects and resumes. */
  const orRefused = (client: Staff, work: Promise<void>): void =>
    void work.catch((error: unknown) => {
      log.warn({ err: error }, 'a member was not shown what was missed, and connects again');
      client.socket!.refuse(new Problem('UNAVAILABLE', { message: 'What you missed was not read; connect again.' }));
    });

  return {
    path: /^\/v1\/support\/live\/ws\/(?<orgId>[\w-]{1,100})$/,
    metrics,
    streams: {
      collection: OrganizationModel.collection.collectionName,
      // When a member is removed, the field `members` changes. All members must connect again, because the change does
      // not say who was removed.
      endedBy: 'members',
      ended: membersChanged,
    },
    credentials: {
      collection: UserModel.collection.collectionName,
      endedBy: 'epoch',
      ended: () => connectAnew('You were signed out.'),
      of: ({ userId }) => userId,
      maxSockets: socketsPerMember,
      async endedAmong(userIds) {
        const standing = new Map((await listUsers(userIds)).map((user) => [user._id, user]));
        const orgs = new Map((await listOrganizations([...staffOf.keys()])).map((org) => [org._id, org]));
        const ended = [...staffOf.values()].flatMap((those) =>
          [...those].filter(({ orgId, userId, epoch }) => {
            const isMember = orgs.get(orgId)?.members.some(({ user_id }) => user_id === userId);
            return !isMember || standing.get(userId)?.epoch !== epoch;
          }),
        );
        return [...new Set(ended.map(({ userId }) => userId))];
      },
    },
    async admit({ params, query, address }) {
      await limit('address_connects', networkOf(address));
      const { secrets } = ctx;
      const key = { state: query.get('ticket') ?? '', ...liveTicket };
      const taken = (await takeState(key, { secrets, now: clock() })) as Ticket | null;
      if (!taken || taken.orgId !== params['orgId']) throw connectAnew('The address was used, or is too old.');
      const mode = query.get('mode');
      const chosen = modes.filter((one) => mode === null || one === mode);
      if (chosen.length === 0) throw new Problem('VALIDATION', { message: `mode: is ${modes.join(' or ')}` });
      const user = await findUser(taken.userId);
      if (user?.epoch !== taken.epoch) throw connectAnew('You were signed out.');
      const now = clock();
      const since = query.get('since') ?? now.toISOString();
      if (Number.isNaN(Date.parse(since))) throw new Problem('VALIDATION', { message: 'since: is not a time' });
      const until = new Date(now.getTime() + socketMs);
      return { ...taken, modes: chosen, until, since: new Date(since), views: new Set() };
    },
    async open(socket, client) {
      const { orgId, userId } = client;
      const org = await findOrganization(orgId);
      const role = org?.members.find(({ user_id }) => user_id === userId)?.role;
      if (!org || !role) throw noSuch('organization');
      client.socket = socket;
      socket.tell('welcome', { at: resumesAt(client, stamp()), user_id: userId, role, ...(await around(org)) });
      // The stream's id is the organization's id, and no log has this id. So the socket gets only the frames that
      // `hears` makes from all logs.
      return { orgId, stream: orgId };
    },
    came(client) {
      staffOf.set(client.orgId, (staffOf.get(client.orgId) ?? new Set()).add(client));
      presence.came(personOf(client));
      orRefused(client, begin(client));
    },
    left(client) {
      const others = staffOf.get(client.orgId);
      others?.delete(client);
      if (others?.size === 0) staffOf.delete(client.orgId);
      presence.left(personOf(client));
      for (const convId of client.views) background(viewing(client, convId, 'gone'));
    },
    hears({ org_id: orgId, stream, type, body, at }) {
      heardAt = at;
      if (!staffOf.has(orgId)) return;
      if (isStaffStream(stream)) hearStaff(orgId, { type, body } as StaffFrame);
      else if (!isIdOf('conversation', stream)) return;
      else if (!unchanging.has(type)) {
        // An `ack` (a further message of the customer) leaves an unfinished answer as it is. Any other frame means that
        // the answer is complete or was given up, so its pieces are dropped.
        if (type !== 'ack') begun.delete(stream);
        next(orgId).conversations.add(stream);
      } else if (type === 'reply_start' || type === 'reply_chunk') hearAnswer(orgId, stream, type, body as Piece);
    },
    missed() {
      for (const client of [...staffOf.values()].flatMap((those) => [...those])) {
        client.since = new Date(client.since ?? heardAt);
        // If the page knows a later time than `at`, a pong sends it `at` before the changes are read. If that read
        // fails, the page reconnects and asks for all changes since `at`.
        const { toldAt } = client;
        const at = resumesAt(client, stamp());
        if (toldAt === undefined || toldAt > at) client.socket!.tell('pong', { at });
        orRefused(client, catchUp(client));
      }
      heardAt = clock();
    },
    frame: clientFrame,
    async take(socket, client, frame) {
      if (frame.type === 'ping') return socket.tell('pong', { at: resumesAt(client, stamp()) });
      await limit('writes', client.userId);
      const { conv_id: convId, doing } = frame;
      const conversation = await findConversation(client.orgId, convId);
      if (!conversation || !client.modes.includes(conversation.mode)) throw noSuch('conversation');
      if (doing === 'gone') client.views.delete(convId);
      else client.views.add(convId);
      await viewing(client, convId, doing);
    },
    logged: ({ orgId, userId }) => ({ org_id: orgId, user_id: userId }),
    check(socket, { until }) {
      if (clock() >= until) socket.refuse(connectAnew('This connection has lasted an hour.'));
    },
    close: async () => {
      clearTimeout(gathering);
      await presence.close();
    },
  };
}

/**
 * Inbox entries as the list shows them. No reply schema filters frames, so fields that members may not see are removed
 * here.
 */
const entriesOf = async (orgId: string, found: readonly Conversation[], reader?: string) =>
  (await viewConversations(orgId, found, reader)).map((entry) => shownConversation.parse(entry));

/**
 * The `at` of the next frame to the page, which sends it back as `since` when it reconnects. While `staff.since` is
 * set, changes after that time may be unsent. The page then gets `staff.since`, so that it misses no change if the
 * connection breaks. The time is also stored as `toldAt`.
 */
function resumesAt(staff: Staff, at: string): string {
  staff.toldAt = staff.since?.toISOString() ?? at;
  return staff.toldAt;
}

const connectAnew = (why: string): Problem =>
  new Problem('UNAUTHENTICATED', { message: `${why} Ask for another address, and connect anew.` });
const membersChanged = (): Problem => connectAnew('The members of the organization have changed.');
