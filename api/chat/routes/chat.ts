/**
 * Routes of the chat over REST, for a customer with a session token: send a message and read the history.
 * api/chat/stream.ts handles the socket.
 */
import { session } from '../../access/auth.ts';
import { currentConversation, ownConversation, say } from '../conversation.ts';
import { readHistory, readHistoryCursor, viewConversation, viewMessage } from '../history.ts';
import * as contract from '../contract/chat.ts';
import { defaultLimit, paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { listConversations } from '../../../models/chat/conversation.ts';

export const chatRoutes = [
  route(contract.sendMessage, {
    summary: 'Say something; it is stored and will be answered. Read the answer from the history, or use the socket.',
    auth: session,
    status: 202,
    limit: 'messages',
    errors: ['SANDBOX_LIMIT'],
    async handle({ body, principal, commandIds }, ctx) {
      // If the client gave no message id, the id of the request is used. A retry with the same `Idempotency-Key` then
      // has the same id. So the message is stored once, even if the first reply was not stored.
      const said = { body: body.body, clientMessageId: body.client_message_id ?? commandIds[0] };
      const { convId, messageId, duplicate } = await say(ctx, principal, body.conv_id, said);
      return { conv_id: convId, message_id: messageId, ...(duplicate ? { duplicate } : {}) };
    },
  }),
  route(contract.listOwnConversations, {
    summary: 'The customer’s own conversations, the newest first.',
    auth: session,
    limit: 'queries',
    async handle({ query, principal: { orgId, mode, customerId } }) {
      const { entries, cursor } = await paged(query, (limit, after) =>
        listConversations(orgId, mode, customerId, { limit, after }),
      );
      return { conversations: entries.map(viewConversation), cursor };
    },
  }),
  route(contract.getOwnConversation, {
    summary: 'One of the customer’s own conversations, with its last messages.',
    auth: session,
    limit: 'queries',
    async handle({ params: { convId }, query: { limit = defaultLimit, cursor }, principal }) {
      const before = readHistoryCursor(cursor, convId)?.before;
      const conversation = await ownConversation(principal, convId);
      const { found, cursor: next } = await readHistory(conversation, { limit, before });
      return { conversation: viewConversation(conversation), messages: found.map(viewMessage), cursor: next };
    },
  }),
  route(contract.getChatHistory, {
    summary: 'The last messages of the current conversation; page backwards with the cursor.',
    auth: session,
    limit: 'queries',
    async handle({ query: { limit = defaultLimit, cursor }, principal }) {
      // A cursor names its conversation, which need not be the current one.
      const from = readHistoryCursor(cursor);
      const conversation = from ? await ownConversation(principal, from.convId) : await currentConversation(principal);
      if (!conversation) return { conv_id: null, messages: [], cursor: null };
      const { found, cursor: next } = await readHistory(conversation, { limit, before: from?.before });
      return { conv_id: conversation._id, messages: found.map(viewMessage), cursor: next };
    },
  }),
];
