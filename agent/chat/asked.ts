/**
 * Collects what the agent needs to answer a customer's message: the earlier messages, the segments to search and the
 * customer's situation.
 */
import type { Asked } from './turn.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import type { Message } from '../../models/chat/message.ts';
import { productTypeOf } from '../../models/rules/access/session.ts';
import { searchedSegments, situationOf } from '../../models/rules/chat/conversation.ts';

/** The number of earlier messages that the agent takes into account. */
export const rememberedMessages = 10;

/** `history`: the messages of the conversation before the given one, oldest first. */
export function askedOf(
  { org_id: orgId, mode, refinement, session_context }: Conversation,
  { body, product_type }: Message,
  history: readonly Message[],
): Pick<Asked, 'orgId' | 'mode' | 'body' | 'history' | 'segments' | 'situation'> {
  return {
    orgId,
    mode,
    body,
    history,
    segments: searchedSegments(product_type, productTypeOf(refinement ?? {})),
    situation: situationOf(session_context?.context, refinement, product_type),
  };
}
