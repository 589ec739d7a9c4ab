/**
 * Makes the agent's answer as a draft for a member. The member may change and send the draft. Nothing is stored or sent
 * here, and no tool is called.
 */
import type { TenantPrincipal } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { conversationOf } from './inbox.ts';
import { askedOf, rememberedMessages } from '../../agent/chat/asked.ts';
import { takeTurn, type TurnAnswer } from '../../agent/chat/turn.ts';
import { listMessages, type Message } from '../../models/chat/message.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** The draft, and the customer's message that it answers. */
type Draft = { turn: TurnAnswer; about: Message };

const silent = { piece: async () => undefined, again: async () => undefined };

/**
 * Answers the customer's last question. Later messages are skipped if they ask for a person or only greet or thank,
 * because documents do not answer such messages. Undefined when there is no question, or no answer.
 * @throws Problem NOT_FOUND, or CONFLICT when the customer has written meanwhile.
 */
export async function suggestReply(
  ctx: Context,
  principal: TenantPrincipal,
  convId: string,
): Promise<Draft | undefined> {
  const conversation = await conversationOf(principal, convId);
  const { org_id: orgId } = conversation;
  const messages = await listMessages(orgId, convId, { limit: 2 * rememberedMessages });
  const asked = await lastQuestion(ctx, messages);
  if (!asked) return undefined;
  const history = messages.slice(0, messages.indexOf(asked)).slice(-rememberedMessages);
  const turn = await takeTurn(
    ctx,
    {
      ...askedOf(conversation, asked, history),
      misses: 0,
      attempt: 1,
      patience: {},
      allowed: async () => true,
    },
    silent,
  );
  const [newest] = (await listMessages(orgId, convId, { limit: 1 })) as [Message];
  if (newest.role === 'customer' && newest._id !== messages.at(-1)!._id)
    throw new Problem('CONFLICT', { message: 'The customer has written meanwhile; ask again.' });
  return turn?.has_context ? { turn, about: asked } : undefined;
}

async function lastQuestion({ intelligence }: Context, messages: readonly Message[]): Promise<Message | undefined> {
  for (const message of messages.filter(({ role }) => role === 'customer').toReversed()) {
    const { intent } = await intelligence.read({ body: message.body, history: [] });
    if (intent === 'question') return message;
  }
  return undefined;
}
