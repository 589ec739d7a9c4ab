/** What the chat keeps with each of its sockets. */
import type { EmbedAdmission } from './admission.ts';
import type { ConversationRef } from '../../models/chat/saying.ts';
import type { SessionPrincipal } from '../access/auth.ts';
import type { StreamSocket } from '../live/stream.ts';

export type ChatClient = {
  customer: SessionPrincipal;
  /** Of a page that embeds the chat. */
  embed: EmbedAdmission | undefined;
  /** Once it is open. */
  conversation: ConversationRef | undefined;
};
export type ChatSocket = StreamSocket;
