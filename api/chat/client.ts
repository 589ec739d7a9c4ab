/** The data that the chat keeps for each of its sockets. */
import type { EmbedAdmission } from './admission.ts';
import type { ConversationRef } from '../../models/chat/saying.ts';
import type { SessionPrincipal } from '../access/auth.ts';
import type { StreamSocket } from '../live/stream.ts';

export type ChatClient = {
  customer: SessionPrincipal;
  /** Set when a page embeds the chat. */
  embed: EmbedAdmission | undefined;
  /** Set once the socket is open. */
  conversation: ConversationRef | undefined;
  /** When members were last informed that the customer is typing, in ms since 1970. */
  typedAt?: number;
};
export type ChatSocket = StreamSocket;
