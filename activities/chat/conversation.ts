/**
 * What is done for a conversation that has news: members' replies and changes of its status are shown, and what its customer
 * asked is answered, in this order, until nothing is left. Every step may run again at any point, also beside a worker that
 * was believed dead: frames have keys, answers one id, and of two attempts at an answer the later one writes.
 */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Logger } from 'pino';
import { withHeartbeat } from '../base/heartbeat.ts';
import { takeTurn, type TurnAnswer } from '../../agent/turn.ts';
import type { Ai } from '../../clients/ai/ai.ts';
import type { Search } from '../../clients/search/search.ts';
import { takeTestReply } from '../../models/chat/allowance.ts';
import { actOn } from '../../models/chat/act.ts';
import {
  findConversation,
  placeAnswer,
  removeEmpty,
  settleShown,
  type Conversation,
} from '../../models/chat/conversation.ts';
import { conversationWriter } from '../../models/chat/log.ts';
import { hasFrame, lastSeq, Superseded, type FrameWriter, type NewFrame } from '../../models/live/frame.ts';
import {
  ackFrame,
  claimAnswer,
  findAnswer,
  holdsAnswer,
  insertMessage,
  listMessages,
  listUnshown,
  listWaiting,
  markShown,
  settleMessage,
  type Message,
} from '../../models/chat/message.ts';
import {
  agentAnswers,
  missesToEscalate,
  searchedSegments,
  situationOf,
  type ConversationStatus,
  type EscalationReason,
} from '../../models/rules/chat/conversation.ts';
import { keepTogether } from '../../models/chat/retention.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { productTypeOf } from '../../models/rules/access/session.ts';

export type ConversationDeps = {
  search: Search;
  ai: Ai;
  /** Answers a minute that an organization may have in test mode. */
  testRepliesPerMinute: number;
  clock: () => Date;
  log: Logger;
};
type Ref = { orgId: string; convId: string };
export type ConversationActivities = ReturnType<typeof createConversationActivities>;

/** Whether a question in vain is one of those after which a person is called: where somebody has ended it, nobody waits. */
const countsMisses = ({ status }: Conversation): boolean => status === 'open';

/** Messages before the one that is answered which the agent is shown. */
const rememberedMessages = 10;

export function createConversationActivities({ search, ai, testRepliesPerMinute, clock, log }: ConversationDeps) {
  async function attend({ orgId, convId }: Ref, signal: AbortSignal): Promise<void> {
    /** The attempt that had the first message when we began: one that died. */
    let before: string | undefined;
    for (let first = true; ; first = false) {
      signal.throwIfAborted();
      // The log's end is read before anything is claimed; see `WriterOptions`.
      const [conversation, unshown, waiting, after] = await Promise.all([
        findConversation(orgId, convId),
        listUnshown(orgId, convId),
        listWaiting(orgId, convId),
        lastSeq(convId),
      ]);
      const [message] = waiting;
      if (!conversation) return;
      if (first) before = message?.attempt;
      let more = waiting.length > 1;
      if (unshown.length > 0 || conversation.status_version > conversation.shown_version) {
        await show(conversation, unshown, after);
        more = waiting.length > 0;
      } else if (message) {
        // We answer one after the other, so somebody who took this one since we began has taken our place.
        if (message.attempt !== undefined && message.attempt !== before) throw new Superseded();
        // What was begun is ended, whoever took over meanwhile.
        if (!agentAnswers(conversation.status) && message.attempt === undefined) {
          await leave(conversation, message, after);
        } else more = (await answer(conversation, message, after, signal)) || more;
      }
      // Whatever was stored since we looked comes with a signal of its own.
      if (!more) return keepTogether(conversation);
    }
  }

  /** Shows members' replies and the status as it is now. */
  async function show(conversation: Conversation, unshown: Message[], after: number): Promise<void> {
    const { _id: convId, org_id: orgId, status, status_version: version, ticket } = conversation;
    const holds = async () => (await findConversation(orgId, convId))?.status_version === version;
    const writer = conversationWriter(conversation, clock, { after, holds });
    for (const { _id, body, sender_name, at } of unshown) {
      const sender = sender_name === undefined ? {} : { sender_name };
      const frame = { message_id: _id, body, ...sender, timestamp: at.toISOString() };
      await writer.append({ type: 'agent_reply', body: frame, key: `agent:${_id}` });
      await markShown(orgId, _id);
    }
    if (version <= conversation.shown_version) return;
    const told: NewFrame = { type: 'status', body: { status }, key: `status:${version}` };
    const called: NewFrame[] =
      status === 'escalated' && ticket
        ? [{ type: 'escalated', body: { ticket_id: ticket.ticket_id }, key: `escalated:${version}` }]
        : [];
    await writer.appendAll([...called, told]);
    // Taken up again by a member, it is the one that the customer is shown who has come back to an empty one meanwhile.
    if (status !== 'resolved' && conversation.last_message_at) await removeEmpty(conversation);
    await settleShown(orgId, convId, version);
  }

  /** A person answers: it stays where it is. */
  async function leave(conversation: Conversation, message: Message, after: number): Promise<void> {
    await conversationWriter(conversation, clock, { after }).append(ackFrame(message));
    await settleMessage(conversation.org_id, message._id, 'left');
  }

  /** Whether that left something to show. */
  async function answer(
    conversation: Conversation,
    message: Message,
    after: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { _id: convId, org_id: orgId, mode } = conversation;
    const replyId = message.reply_id!;
    const attempt = randomUUID();
    const [claimed, acked, stored, history] = await Promise.all([
      claimAnswer(message, attempt),
      hasFrame(convId, ackFrame(message).key),
      message.attempt === undefined ? null : findAnswer(orgId, message._id),
      listMessages(orgId, convId, { limit: rememberedMessages, before: message.position }),
    ]);
    if (!claimed) throw new Superseded();
    const writer = conversationWriter(conversation, clock, {
      after,
      holds: () => holdsAnswer(orgId, message._id, attempt),
    });
    const begin: NewFrame = { type: 'reply_start', body: { message_id: replyId }, transient: true };
    const before = acked ? [] : [ackFrame(message)];
    if (stored) {
      await writer.appendAll(before);
      return finish(conversation, message, stored, conversation.misses, writer);
    }
    await writer.appendAll([...before, { type: 'typing', transient: true }, begin]);
    const turn = await takeTurn(
      { search, ai, clock },
      {
        orgId,
        mode,
        body: message.body,
        asker: { customerId: conversation.customer_id, messageId: message._id },
        history,
        segments: searchedSegments(message.product_type, productTypeOf(conversation.refinement ?? {})),
        situation: situationOf(conversation.session_context?.context, conversation.refinement, message.product_type),
        misses: countsMisses(conversation) ? conversation.misses : 0,
        attempt: (message.attempts ?? 0) + 1,
        allowed: async () => mode === 'live' || takeTestReply(orgId, message._id, testRepliesPerMinute, clock()),
      },
      {
        async piece(body) {
          await writer.append({ type: 'reply_chunk', body: { message_id: replyId, body }, transient: true });
        },
        async again() {
          await writer.append(begin);
        },
      },
      signal,
    );
    const { kept, misses } = await keep(conversation, message, turn);
    return finish(conversation, message, kept, misses, writer);
  }

  /** Stores the answer; an earlier attempt's that came before it stands. */
  async function keep(conversation: Conversation, message: Message, turn: TurnAnswer) {
    const { _id: convId, org_id: orgId, mode } = conversation;
    const now = clock();
    const { body, sources, has_context, counted, escalate, record } = turn;
    const { position, misses } = await placeAnswer(orgId, convId, {
      messageId: message._id,
      body,
      hasContext: counted && countsMisses(conversation) ? has_context : undefined,
      now,
    });
    const inserted = await insertMessage({
      _id: message.reply_id!,
      org_id: orgId,
      conv_id: convId,
      mode,
      role: 'ai',
      body,
      position,
      at: now,
      answers: message._id,
      sources,
      has_context,
      record: { ...record, ...(escalate === undefined ? {} : { escalate }) },
    });
    const kept = inserted ?? (await findAnswer(orgId, message._id));
    if (!kept) throw new Error(`The answer to ${message._id} is neither new nor there.`);
    return { kept, misses };
  }

  /**
   * Ends a stored answer: shows it whole, calls a person when it said so, and lets go of the message, last. Whether that
   * left something to show.
   */
  async function finish(
    conversation: Conversation,
    message: Message,
    { _id, body, sources, has_context, at, record }: Message,
    misses: number,
    writer: FrameWriter,
  ): Promise<boolean> {
    const { _id: convId, org_id: orgId } = conversation;
    const frame = { message_id: _id, body, sources, has_context, timestamp: at.toISOString() };
    await writer.append({ type: 'reply_end', body: frame, key: `end:${_id}` });
    const said = record?.['escalate'] as EscalationReason | undefined;
    const reason = said ?? (misses >= missesToEscalate ? 'no_context' : undefined);
    // What the customer was told holds, though the conversation was resolved meanwhile.
    if (reason) await callPerson(orgId, convId, reason, said ? ['open', 'resolved'] : ['open']);
    await settleMessage(orgId, message._id, 'answered');
    log.info({ org_id: orgId, conv_id: convId, message_id: message._id, has_context, reason }, 'message answered');
    return reason !== undefined;
  }

  async function callPerson(
    orgId: string,
    convId: string,
    reason: EscalationReason,
    from: readonly ConversationStatus[],
  ): Promise<void> {
    try {
      await actOn(orgId, convId, 'escalate', { now: clock(), reason, from });
    } catch (error) {
      // Somebody has taken over, or it is resolved.
      if (!(error instanceof Problem && error.code === 'CONFLICT')) throw error;
    }
  }

  return {
    /** Does what is outstanding in a conversation. Whoever finds its place taken fails, and is tried again if it was not dead. */
    async attendTo(ref: Ref): Promise<void> {
      try {
        await withHeartbeat((signal) => attend(ref, signal));
      } catch (error) {
        if (!(error instanceof Superseded)) throw error;
        throw ApplicationFailure.create({
          message: 'Another attempt has taken over.',
          type: error.name,
          category: ApplicationFailureCategory.BENIGN,
          nextRetryDelay: '100 milliseconds',
          cause: error,
        });
      }
    },
  };
}
