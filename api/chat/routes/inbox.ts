/**
 * Routes of the inbox: members read conversations and act in them. The conversation's workflow writes the frames that
 * customers get.
 */
import { key, type TenantPrincipal } from '../../access/auth.ts';
import * as contract from '../contract/inbox.ts';
import { afterPlace, defaultLimit, placedListPage } from '../../http/cursor.ts';
import {
  actShown,
  assign,
  conversationOf,
  readerOf,
  readPosition,
  replyTo,
  viewConversations,
  viewMessage,
  viewOne,
} from '../inbox.ts';
import { readHistory, readHistoryCursor } from '../history.ts';
import { suggestReply } from '../suggest.ts';
import { route, withStatus } from '../../http/route.ts';
import { type Conversation } from '../../../models/chat/conversation.ts';
import { noticesSeen } from '../../../models/chat/notices.ts';
import { tellStaff } from '../../../models/live/staff.ts';
import { markRead, readUpTo } from '../../../models/chat/unread.ts';
import { countInbox, listInbox, type InboxPlace } from '../../../models/chat/inbox.ts';
import type { InboxSort } from '../../../models/rules/chat/conversation.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { invalid } from '../../../models/rules/base/errors.ts';

/** The user that `assigned_to` filters by. @throws Problem VALIDATION when a key asks for `me`. */
function assignee(asked: string | undefined, { kind, actor }: TenantPrincipal): string | null | undefined {
  if (asked === 'none') return null;
  if (asked !== 'me') return asked;
  if (kind === 'member') return actor;
  throw invalid(['query', 'assigned_to'], 'is for members: nothing is assigned to a key');
}

/** A conversation's position in the list: the time that the list is sorted by (ms), and the conversation's id. */
const placeOf =
  (sort: InboxSort) =>
  ({ last_message_at, waiting_since, _id }: Conversation) =>
    `${(sort === 'waiting' ? waiting_since : last_message_at)!.getTime()} ${_id}`;
function place(cursor: string | undefined): InboxPlace | undefined {
  const [at, convId] = afterPlace(cursor, /^\d{1,15} conv_[0-9A-Z]{26}$/)?.split(' ') ?? [];
  return at === undefined || convId === undefined ? undefined : { at: new Date(Number(at)), convId };
}

export const inboxRoutes = [
  route(contract.listInbox, {
    summary: 'Conversations that somebody has written in, newest activity first.',
    auth: key('support:read'),
    async handle({ params: { orgId }, query, principal }) {
      const { modes } = principal;
      const { status, tag, priority, customer_id: customerId, sort = 'newest' } = query;
      const filter = {
        modes,
        status,
        assignedTo: assignee(query.assigned_to, principal),
        tag,
        priority,
        customerId,
        unread: query.unread === 'true',
        since: query.from === undefined ? undefined : new Date(query.from),
        until: query.until === undefined ? undefined : new Date(query.until),
        snoozed: query.snoozed === undefined ? undefined : query.snoozed === 'true',
      };
      const limit = query.limit ?? defaultLimit;
      const after = place(query.cursor);
      const [found, totals] = await Promise.all([
        listInbox(orgId, filter, { limit: limit + 1, after, sort }),
        countInbox(orgId, filter, sort),
      ]);
      const { entries, cursor } = placedListPage(found, limit, placeOf(sort));
      return { conversations: await viewConversations(orgId, entries, readerOf(principal)), ...totals, cursor };
    },
  }),
  route(contract.getConversation, {
    summary: 'One conversation with its last messages; a member who reads the newest ones has read it, a key has not.',
    auth: key('support:read'),
    async handle({ params: { orgId, convId }, query, principal }, ctx) {
      const limit = query.limit ?? defaultLimit;
      const before = readHistoryCursor(query.cursor, convId)?.before;
      const conversation = await conversationOf(principal, convId);
      const looks = principal.kind === 'member' && before === undefined;
      if (looks && conversation.unread > 0) {
        const now = ctx.clock();
        await markRead(orgId, convId, now);
        await tellStaff(orgId, { type: 'changed', body: { conv_id: convId } }, now);
      }
      if (looks) await noticesSeen(orgId, convId, principal.actor);
      const { position } = conversation;
      const movesOn = looks && (readPosition(conversation, principal.actor) ?? 0) < position;
      const read = movesOn ? await readUpTo(orgId, convId, principal.actor, position) : conversation;
      const { found, cursor } = await readHistory(conversation, { limit, before });
      return {
        ...(await viewOne({ ...conversation, ...defined({ read_by: read?.read_by }) }, principal)),
        messages: found.map(viewMessage),
        cursor,
        context: { session: conversation.session_context?.context ?? {}, page: conversation.refinement ?? {} },
        events: conversation.events,
        notes: conversation.notes ?? [],
      };
    },
  }),
  route(contract.replyToConversation, {
    summary: 'Answer the customer as a person; the agent is silent until the conversation is reopened or resolved.',
    auth: key('support:write'),
    status: 201,
    otherStatuses: [200],
    async handle({ params: { convId }, body, principal, commandIds }, ctx) {
      // If the sender gave no message id, the id of the request is used. A retry with the same `Idempotency-Key` then
      // has the same id. So the message is stored once, even if the first reply was not stored.
      const said = { ...body, client_message_id: body.client_message_id ?? commandIds[0] };
      const { messageId, duplicate } = await replyTo(ctx, principal, convId, said);
      return duplicate
        ? withStatus(200, { message_id: messageId, duplicate: true as const })
        : { message_id: messageId };
    },
  }),
  route(contract.suggestReply, {
    summary: 'The agent’s answer to the customer’s last question as a draft. Nothing is stored or sent.',
    auth: key('support:write'),
    errors: ['CONFLICT'],
    limit: 'queries',
    asksOnly: true,
    async handle({ params: { convId }, principal }, ctx) {
      const draft = await suggestReply(ctx, principal, convId);
      if (!draft) return { suggestion: null };
      const { body, sources, confidence = 'low', record } = draft.turn;
      return { suggestion: { body, sources, confidence, record, based_on: draft.about._id } };
    },
  }),
  route(contract.assignConversation, {
    summary: 'Give a conversation to a member, or to nobody; of two at once the later holds.',
    auth: key('support:write'),
    async handle({ params: { convId }, body, principal }, ctx) {
      return viewOne(await assign(ctx, principal, convId, body.user_id), principal);
    },
  }),
  route(contract.resolveConversation, {
    summary: 'Close a conversation and its ticket; what the customer writes next is the agent’s again.',
    auth: key('support:write'),
    errors: ['CONFLICT'],
    async handle({ params: { convId }, principal }, ctx) {
      return viewOne(await actShown(ctx, principal, convId, 'resolve'), principal);
    },
  }),
  route(contract.escalateConversation, {
    summary: 'Have a person take over: the agent is silent, and there is a ticket.',
    auth: key('support:write'),
    async handle({ params: { convId }, body, principal }, ctx) {
      const note = body.reason === undefined ? {} : { note: body.reason.trim() };
      return viewOne(await actShown(ctx, principal, convId, 'escalate', { reason: 'member', ...note }), principal);
    },
  }),
  route(contract.reopenConversation, {
    summary: 'Open a resolved conversation again, for the agent to answer.',
    auth: key('support:write'),
    errors: ['CONFLICT'],
    async handle({ params: { convId }, principal }, ctx) {
      return viewOne(await actShown(ctx, principal, convId, 'reopen'), principal);
    },
  }),
];
