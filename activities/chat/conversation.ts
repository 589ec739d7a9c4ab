/**
 * Processes the outstanding work of a conversation: shows members' replies and status changes, then answers the
 * customer's messages. Every step is idempotent, even if two workers run it at once. Frames (the entries of a
 * conversation's log) have idempotency keys, and answers have fixed ids. Of two attempts at an answer only the later
 * one writes.
 */
import { Context, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { createAnswering, type AnsweringDeps } from './answer.ts';
import { createToolUse } from './tooluse.ts';
import { findConversation, settleShown, type Conversation } from '../../models/chat/conversation.ts';
import { removeEmpty } from '../../models/chat/current.ts';
import { conversationWriter } from '../../models/chat/log.ts';
import {
  ackFrame,
  isAnswerBegun,
  listOutstanding,
  markShown,
  settleMessage,
  type Message,
} from '../../models/chat/message.ts';
import { keepTogether } from '../../models/chat/retention.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { lastFrame, Superseded, type NewFrame } from '../../models/live/frame.ts';
import { agentAnswers, answersIfSure } from '../../models/rules/chat/conversation.ts';

type Ref = { orgId: string; convId: string };
/**
 * `done`: no work is outstanding. `modelFailed`: why the model failed to write the last answer. `waiting`: an answer
 * waits for the tool call with the id `for`; the conversation is processed again after a signal or after `withinMs`.
 * `long`: the remaining work takes longer than a workflow task may, so a normal activity does it.
 */
export type Attended =
  | { kind: 'done'; modelFailed?: string | false }
  | { kind: 'waiting'; for: string; withinMs: number }
  | { kind: 'long' };
export type ConversationActivities = ReturnType<typeof createConversationActivities>;

/**
 * An activity that runs within a workflow task begins no further answer once it has run for this time, in ms. An answer
 * without a model takes some 30 ms.
 */
const taskPatienceMs = 2_000;

export function createConversationActivities(deps: AnsweringDeps) {
  const { clock, intelligence } = deps;
  const { answer } = createAnswering(deps);
  const { heldUp } = createToolUse(deps);

  async function attend({ orgId, convId }: Ref, signal: AbortSignal): Promise<Attended> {
    const { isLocal } = Context.current().info;
    if (isLocal && intelligence.asksModel) return { kind: 'long' };
    const began = performance.now();
    /**
     * By message id, the attempt that has claimed the message: an attempt of this run, or an earlier one that died or
     * waits for a tool call.
     */
    const before = new Map<string, string | undefined>();
    let modelFailed: string | false | undefined;
    for (let first = true; ; first = false) {
      signal.throwIfAborted();
      // `last`, the end of the frame log, is read before any message is claimed. If the log still ends there at the
      // first write, no other run has written, and the claim need not be checked.
      const [conversation, { unshown, waiting }, last] = await Promise.all([
        findConversation(orgId, convId),
        listOutstanding(orgId, convId),
        lastFrame({ orgId, stream: convId }),
      ]);
      if (!conversation) return { kind: 'done' };
      if (first) for (const { _id, attempt } of waiting) before.set(_id, attempt);
      // While one message waits for a tool call, later messages are answered.
      const held = await heldUp(orgId, convId, waiting);
      const ready = waiting.filter(({ _id }) => !held.has(_id));
      const [message] = ready;
      let more = ready.length > 1;
      if (unshown.length > 0 || conversation.status_version > conversation.shown_version) {
        await show(conversation, unshown, last.seq);
        more = waiting.length > 0;
      } else if (message) {
        // Messages are answered one after the other. If another attempt has claimed this message since this run
        // started, that attempt has superseded this run.
        if (message.attempt !== undefined && message.attempt !== before.get(message._id)) throw new Superseded();
        // An answer that was started is completed, even if a person took over meanwhile.
        const { status, ticket } = conversation;
        const begun = await isAnswerBegun(message);
        const onlySure = !begun && answersIfSure(status, ticket);
        if (!agentAnswers(status) && !onlySure && !begun) {
          await leave(conversation, message, last.seq);
        } else if (isLocal && performance.now() - began > taskPatienceMs) {
          return { kind: 'long' };
        } else {
          const answered = await answer(conversation, message, { last, onlySure }, signal);
          before.set(message._id, answered.attempt);
          modelFailed = answered.modelFailed ?? modelFailed;
          // A tool call that holds this answer up may have ended meanwhile, so the loop checks again.
          more = answered.more || answered.held !== undefined || more;
        }
      } else if (held.size > 0) {
        const [soonest] = [...held.values()].toSorted((a, b) => a.untilMs - b.untilMs);
        return { kind: 'waiting', for: soonest!.callId, withinMs: soonest!.untilMs };
      }
      // A message that is stored after the reads above comes with a signal, which makes the workflow run this activity
      // again.
      if (more) continue;
      await keepTogether(conversation);
      return { kind: 'done', ...defined({ modelFailed }) };
    }
  }

  /** Shows members' replies and the current status to the customer. */
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
    // If a member has reopened the conversation, the customer may have started a new one meanwhile. If the new one is
    // empty, it is removed, so that the customer sees the reopened one.
    if (status !== 'resolved' && conversation.last_message_at) await removeEmpty(conversation);
    await settleShown(orgId, convId, version);
  }

  /** A person handles the conversation, so the message is acknowledged and left to that person. */
  async function leave(conversation: Conversation, message: Message, after: number): Promise<void> {
    await conversationWriter(conversation, clock, { after }).append(ackFrame(message));
    await settleMessage(conversation.org_id, message._id, 'left');
  }

  return {
    /** Processes the outstanding work of a conversation. A superseded attempt fails and is retried. */
    async attendTo(ref: Ref): Promise<Attended> {
      try {
        return await attend(ref, cancellationSignal());
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
