/**
 * Answers a customer's message: runs the agent's turn, shows the answer while it is written, and stores it once. Every
 * step is idempotent. Frames (the entries of a conversation's log) have idempotency keys, and the answer has a fixed
 * id. Of two concurrent attempts only the later one writes.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { askedOf, rememberedMessages } from '../../agent/chat/asked.ts';
import { recordOf } from '../../agent/chat/record.ts';
import { useTools } from '../../agent/chat/tools.ts';
import { takeTurn, type Asked, type TurnAnswer } from '../../agent/chat/turn.ts';
import { createToolUse, type HeldUp } from './tooluse.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { Search } from '../../clients/knowledge/search/search.ts';
import type { Intelligence, Toolbox } from '../../intelligence/intelligence.ts';
import { actOn } from '../../models/chat/act.ts';
import { takeTestReply } from '../../models/chat/allowance.ts';
import { ConversationModel, noteAsked, placeAnswer, type Conversation } from '../../models/chat/conversation.ts';
import { conversationWriter, streamOf } from '../../models/chat/log.ts';
import {
  ackFrame,
  claimAnswer,
  findAnswer,
  holdsAnswer,
  insertMessage,
  listMessages,
  MessageModel,
  settleMessage,
  type Message,
} from '../../models/chat/message.ts';
import { intentFor } from '../../models/base/pending.ts';
import { hasFrame, Superseded, type FrameWriter, type LastFrame, type NewFrame } from '../../models/live/frame.ts';
import { shownOffer } from '../../models/rules/knowledge/offers.ts';
import { count, observe } from '../../clients/base/meter.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import {
  missesToEscalate,
  type ConversationStatus,
  type EscalationReason,
} from '../../models/rules/chat/conversation.ts';
import { mailReplyWork } from '../../models/rules/chat/work.ts';
import { defined } from '../../models/rules/base/defined.ts';
import type { Starter } from '../../providers/base/handled.ts';

export type AnsweringDeps = Starter & {
  search: Search;
  intelligence: Intelligence;
  embedding: Embedding;
  /** The maximum number of answers per minute that an organization gets in test mode. */
  testRepliesPerMinute: number;
  startNear: Starter['start'];
  clock: () => Date;
  log: Logger;
};
/**
 * Whether an unanswered question counts towards escalation. It counts only in an open conversation. In any other
 * conversation, a person is already involved or nobody waits for an answer.
 */
const countsMisses = ({ status }: Conversation): boolean => status === 'open';

/**
 * The number of unanswered questions before this message. If an attempt that died has counted this message already, it
 * is subtracted.
 */
const missesBefore = (conversation: Conversation, messageId: string): number =>
  conversation.counted === messageId ? Math.max(0, conversation.misses - 1) : conversation.misses;

/**
 * `more`: whether further frames must be shown. `held`: the turn waits for a tool call. `modelFailed`: why the model
 * failed, so that the answer was written without it; false when it did not fail.
 */
export type Answered = { attempt: string; more: boolean; held?: HeldUp; modelFailed?: string | false };

/**
 * `heard` is called with each piece of the answer. `holds` returns whether this attempt still has the right to answer.
 */
type Turning = { history: Message[]; onlySure: boolean; heard: () => void; holds: () => Promise<boolean> };

function ended(attempt: string, { record }: Message, more: boolean): Answered {
  const error = record?.['model_error'];
  return { attempt, more, modelFailed: typeof error === 'string' && error };
}

export function createAnswering({
  search,
  intelligence,
  embedding,
  testRepliesPerMinute,
  start,
  startNear,
  clock,
  log,
}: AnsweringDeps) {
  const tools = createToolUse({ startNear, clock });

  /** Claims the message and answers it. @throws Superseded when another attempt has claimed the message. */
  async function answer(
    conversation: Conversation,
    message: Message,
    { last, onlySure }: { last: LastFrame; onlySure: boolean },
    signal: AbortSignal,
  ): Promise<Answered> {
    const { _id: convId, org_id: orgId } = conversation;
    const attempt = randomUUID();
    const ack = ackFrame(message);
    const [claimed, acked, stored, history] = await Promise.all([
      claimAnswer(message, attempt, onlySure),
      last.key === ack.key || hasFrame(streamOf(conversation), ack.key),
      message.attempt === undefined ? null : findAnswer(message),
      listMessages(orgId, convId, { limit: rememberedMessages, before: message.position }),
    ]);
    if (!claimed) throw new Superseded();
    if (message.attempt === undefined) count('messages_received_total', { mode: conversation.mode });
    const holds = () => holdsAnswer(orgId, message._id, attempt);
    const writer = conversationWriter(conversation, clock, { after: last.seq, holds });
    const before = acked ? [] : [ack];
    if (stored) {
      await writer.appendAll(before);
      return ended(attempt, stored, await finish(conversation, message, stored, conversation.misses, writer));
    }
    // With `onlySure` the turn may give no answer. So the start of an answer is not announced, and an answer is shown
    // once it is complete.
    const begin: NewFrame[] = onlySure ? [] : [{ type: 'typing', transient: true }, replyStart(message)];
    await writer.appendAll([...before, ...begin]);
    const heard = firstWordsOf(message);
    const turn = await turnFor(conversation, message, { history, onlySure, heard, holds }, writer, signal);
    if (turn && 'callId' in turn) return { attempt, more: false, held: turn };
    // With `onlySure` the turn appends no frame, and only an append would show that another attempt has taken over.
    if (turn && onlySure && !(await holds())) throw new Superseded();
    const done = turn && (await keep(conversation, message, turn, onlySure));
    if (!done) {
      await settleMessage(orgId, message._id, 'left', attempt);
      count('answers_total', { outcome: 'left' });
      return { attempt, more: false };
    }
    const more = await finish(conversation, message, done.kept, done.misses, writer);
    heard();
    return ended(attempt, done.kept, more);
  }

  /** Returns a function to call with each piece of an answer. Its first call measures the time since the message. */
  function firstWordsOf({ at }: Message): () => void {
    let isFirst = true;
    return () => {
      if (isFirst) observe('answer_first_words_seconds', {}, (clock().getTime() - at.getTime()) / 1000);
      isFirst = false;
    };
  }

  /** Runs the agent's turn and appends each piece of the answer to the frame log while it is written. */
  async function turnFor(
    conversation: Conversation,
    message: Message,
    { history, onlySure, heard, holds }: Turning,
    writer: FrameWriter,
    signal: AbortSignal,
  ): Promise<TurnAnswer | HeldUp | undefined> {
    const { org_id: orgId, mode, customer_id: customerId } = conversation;
    const { _id: messageId, reply_id, attempts = 0 } = message;
    const asked: Asked = {
      ...askedOf(conversation, message, history),
      asker: { customerId, messageId },
      misses: countsMisses(conversation) ? missesBefore(conversation, messageId) : 0,
      // The turn is repeated after each tool call. Such a repetition does not count as a failed attempt.
      attempt: Math.max(1, attempts + 1 - (message.calls ?? 0)),
      onlySure,
      patience: {},
      async allowed() {
        if (mode === 'live' || (await takeTestReply(orgId, messageId, testRepliesPerMinute, clock()))) return true;
        count('quota_refusals_total', { quota: 'test_replies' });
        return false;
      },
    };
    const listener = {
      async piece(text: string) {
        if (onlySure) return;
        heard();
        await writer.append({ type: 'reply_chunk', body: { message_id: reply_id, body: text }, transient: true });
      },
      async again() {
        if (onlySure) return;
        await writer.append(replyStart(message));
      },
    };
    const deps = { search, intelligence, embedding, clock };
    // With `onlySure`, a person is involved, so the agent answers from documents only and calls no tools.
    const toolbox = onlySure ? undefined : await tools.toolboxFor(conversation, message);
    const began = performance.now();
    const step = toolbox && (await useTools(deps, asked, toolbox, signal));
    if (step && 'call' in step) {
      // No frame is appended while a model chooses a tool, so another attempt may have taken over unnoticed.
      if (!(await holds())) throw new Superseded();
      return tools.begin(conversation, message, step.call, toolbox);
    }
    if (step) {
      const { by, ...told } = step.told;
      await listener.piece(told.body);
      const record = { ...recordOf(asked, began, undefined, toolsOf(toolbox)), ...by };
      return { ...told, sources: [], has_context: false, record };
    }
    return takeTurn(deps, asked, listener, signal);
  }

  /**
   * Stores the answer, or keeps the answer that an earlier attempt has stored. Returns undefined when a member has
   * taken over the conversation.
   */
  async function keep(conversation: Conversation, message: Message, turn: TurnAnswer, onlySure: boolean) {
    const { _id: convId, org_id: orgId, mode } = conversation;
    const now = clock();
    const { body, sources, has_context, confidence, offers, counts, escalate, record } = turn;
    const placed = await placeAnswer(orgId, convId, {
      messageId: message._id,
      body,
      missed: counts === undefined || !countsMisses(conversation) ? undefined : counts === 'missed',
      now,
      untaken: onlySure,
    });
    if (!placed) return undefined;
    const { position, misses } = placed;
    const calls = escalate !== undefined || misses >= missesToEscalate;
    const outcome = calls ? 'person_called' : offers ? 'offered' : counts === 'missed' ? 'missed' : 'answered';
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
      ...defined({ confidence, offers }),
      record: { ...record, ...defined({ escalate }) },
      // A customer who wrote by mail is answered by mail.
      ...(message.mail ? { unmailed: true, pending: [intentFor(mailReplyWork(orgId, convId), now)] } : {}),
    });
    if (inserted) {
      count('answers_total', { outcome });
      await start(MessageModel, inserted, inserted.pending ?? []);
    }
    const kept = inserted ?? (await findAnswer(message));
    if (!kept) throw new Error(`The answer to ${message._id} is neither new nor there.`);
    return { kept, misses };
  }

  /**
   * Completes a stored answer: shows it whole and finally marks the message as answered. Calls a person if the answer
   * says so, or if too many questions in a row had no answer. An attempt that died may have called the person already,
   * and a member may have replied since, so nobody is called a second time. `conversation` is as it was before this
   * attempt. Returns whether further frames must be shown.
   */
  async function finish(
    conversation: Conversation,
    message: Message,
    { _id, body, sources, has_context, confidence, offers, at, record }: Message,
    misses: number,
    writer: FrameWriter,
  ): Promise<boolean> {
    const { _id: convId, org_id: orgId } = conversation;
    const frame = {
      message_id: _id,
      body,
      sources,
      has_context,
      ...defined({ confidence }),
      ...(offers === undefined ? {} : { offers: offers.map(shownOffer) }),
      timestamp: at.toISOString(),
    };
    await writer.append({ type: 'reply_end', body: frame, key: `end:${_id}` });
    const said = record?.['escalate'] as EscalationReason | undefined;
    const reason = said ?? (misses >= missesToEscalate ? 'no_context' : undefined);
    const isCalled = conversation.events.some((event) => event.type === 'ticket.escalated' && event.at >= at);
    if (reason && !isCalled) await callPerson(orgId, convId, reason, callableFrom(said));
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
      const acted = await actOn(orgId, convId, 'escalate', { now: clock(), reason, from });
      await start(ConversationModel, acted, acted.pending ?? []);
    } catch (error) {
      // CONFLICT means that the conversation was escalated before, a person has taken over, or it is resolved.
      if (!(error instanceof Problem && error.code === 'CONFLICT')) throw error;
      if (reason === 'asked') await noteAsked(orgId, convId, clock());
    }
  }

  return { answer };
}

/**
 * The statuses of a conversation in which a person is called. `said`: the answer tells the customer that a person was
 * called for this reason. A person is then called even if a member has replied or the conversation was resolved
 * meanwhile.
 */
const callableFrom = (said: EscalationReason | undefined): ConversationStatus[] =>
  said === undefined ? ['open'] : ['open', 'resolved', 'pending'];

const toolsOf = ({ made }: Toolbox) => made.map(({ tool_name, outcome }) => ({ tool: tool_name, outcome }));

const replyStart = ({ reply_id }: Message): NewFrame => ({
  type: 'reply_start',
  body: { message_id: reply_id },
  transient: true,
});
