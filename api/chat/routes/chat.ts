/**
 * Routes of the chat over REST, for a customer with a session token: send a message and read the history.
 * api/chat/stream.ts handles the socket.
 */
import { session } from '../../access/auth.ts';
import { currentConversation, ownConversation, say } from '../conversation.ts';
import { foreignCursor, readHistory, readHistoryCursor, viewConversation, viewMessage } from '../history.ts';
import * as contract from '../contract/chat.ts';
import { defaultLimit, paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { listConversations } from '../../../models/chat/conversation.ts';

export const chatRoutes = [
  route('sendMessage', 'POST /support/chat/messages/{orgId}', {
    summary: 'Say something; it is stored and will be answered. Read the answer from the history, or use the socket.',
    auth: session,
    body: contract.sendBody,
    status: 202,
    reply: contract.sendReply,
    limit: 'messages',
    errors: ['SANDBOX_LIMIT'],
    async handle({ body, principal }, ctx) {
      const said = { body: body.body, clientMessageId: body.client_message_id };
      const { convId, messageId, duplicate } = await say(ctx, principal, body.conv_id, said);
      return { conv_id: convId, message_id: messageId, ...(duplicate ? { duplicate } : {}) };
    },
  }),
  route('listOwnConversations', 'GET /support/chat/conversations/{orgId}', {
    summary: 'The customer’s own conversations, the newest first.',
    auth: session,
    query: contract.pageQuery,
    reply: contract.conversationList,
    limit: 'queries',
    async handle({ query, principal: { orgId, mode, customerId } }) {
      const { entries, cursor } = await paged(query, (limit, after) =>
        listConversations(orgId, mode, customerId, { limit, after }),
      );
      return { conversations: entries.map(viewConversation), cursor };
    },
  }),
  route('getOwnConversation', 'GET /support/chat/conversation/{orgId}/{convId}', {
    summary: 'One of the customer’s own conversations, with its last messages.',
    auth: session,
    query: contract.pageQuery,
    reply: contract.conversationReply,
    limit: 'queries',
    async handle({ params: { convId }, query: { limit = defaultLimit, cursor }, principal }) {
      const from = cursor === undefined ? undefined : readHistoryCursor(cursor);
      if (from && from.convId !== convId) throw foreignCursor();
      const conversation = await ownConversation(principal, convId);
      const { found, cursor: next } = await readHistory(conversation, limit, from?.before);
      return { conversation: viewConversation(conversation), messages: found.map(viewMessage), cursor: next };
    },
  }),
  route('getChatHistory', 'GET /support/chat/history/{orgId}', {
    summary: 'The last messages of the current conversation; page backwards with the cursor.',
    auth: session,
    query: contract.pageQuery,
    reply: contract.historyReply,
    limit: 'queries',
    async handle({ query: { limit = defaultLimit, cursor }, principal }) {
      // A cursor belongs to its conversation, even if another conversation is current by now.
      const from = cursor === undefined ? undefined : readHistoryCursor(cursor);
      const conversation = from ? await ownConversation(principal, from.convId) : await currentConversation(principal);
      if (!conversation) return { conv_id: null, messages: [], cursor: null };
      const { found, cursor: next } = await readHistory(conversation, limit, from?.before);
      return { conv_id: conversation._id, messages: found.map(viewMessage), cursor: next };
    },
  }),
];
