/** Answers of customers and members to a tool call that waits for them. The call continues in its workflow. */
import type { SessionPrincipal } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { startSaved } from '../../workflows/start.ts';
import { schemaCheck } from '../../clients/schema/schema.ts';
import { consumeStepUp } from '../../models/access/session.ts';
import { intentFor } from '../../models/base/pending.ts';
import type { ConversationRef } from '../../models/chat/saying.ts';
import { conversationWriter } from '../../models/chat/log.ts';
import {
  answerQuestion,
  decideCall,
  findToolCall,
  questionIdOf,
  readQuestions,
  ToolCallModel,
  type ToolCall,
} from '../../models/mcp/call.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { refusalOf, type Awaited, type Refusal } from '../../models/rules/mcp/call.ts';
import { openQuestion, replyProblem, withReply, type QuestionReply } from '../../models/rules/mcp/question.ts';
import type { JsonSchema } from '../../models/rules/mcp/tool.ts';
import { toolCallWork } from '../../models/rules/mcp/work.ts';

const refusals: Readonly<Record<Refusal, string>> = {
  not_asked: 'Nothing waits for this answer.',
  decided: 'This was decided already.',
  expired: 'The time to answer this is over; nothing was done.',
};
const nothingPending = (refusal: Refusal = 'not_asked') =>
  new Problem('NOTHING_PENDING', { message: refusals[refusal] });

/** Stores a decision once and wakes the call's workflow. @throws Problem NOTHING_PENDING. */
export async function decide(
  ctx: Context,
  call: ToolCall,
  decision: { by: Awaited; approved: boolean; actor: string },
): Promise<ToolCall> {
  const now = ctx.clock();
  const refusal = refusalOf(call, { ...decision, at: now });
  if (refusal) throw nothingPending(refusal);
  const intent = intentFor(toolCallWork(call.org_id, call._id, { decided: true }), now);
  const decided = await decideCall(call, { ...decision, at: now }, [intent]);
  if (!decided) throw nothingPending('decided');
  await startSaved(ctx, ToolCallModel, decided, [intent]);
  return decided;
}

/**
 * The customer answers a tool's elicitation: only the pending one, once, and only with values that its schema allows.
 * @throws Problem NOTHING_PENDING, VALIDATION.
 */
export async function answerInput(
  ctx: Context,
  customer: SessionPrincipal,
  conversation: ConversationRef,
  said: { pendingId: string; questionId: string } & QuestionReply,
): Promise<void> {
  const { pendingId, questionId, action, content = {} } = said;
  const now = ctx.clock();
  const call = await askedOf(customer, conversation, pendingId);
  const refusal = refusalOf(call, { by: 'input', approved: true, at: now });
  if (refusal) throw nothingPending(refusal);
  const questions = readQuestions(call)!;
  const open = openQuestion(questions);
  if (!open || questionIdOf(call, open.number) !== questionId) throw nothingPending('decided');
  const { id, question, schema } = open.asked;
  const problem = action === 'accept' ? (replyProblem(question, content) ?? schemaProblem(schema, content)) : undefined;
  if (problem !== undefined) throw new Problem('VALIDATION', { message: `content: ${problem}` });
  const next = withReply(questions, id, action === 'accept' ? { action, content } : { action });
  const intent = intentFor(toolCallWork(call.org_id, call._id, { decided: true }), now);
  const stored = { questions: JSON.stringify(next), more: openQuestion(next) !== undefined, at: now };
  const answered = await answerQuestion(call, stored, [intent]);
  if (!answered) throw nothingPending('decided');
  await startSaved(ctx, ToolCallModel, answered, [intent]);
  await conversationWriter(conversation, ctx.clock).append({
    type: 'input_ack',
    key: `input_ack:${pendingId}:${questionId}`,
    body: { pending_id: pendingId, question_id: questionId, action },
  });
}

function schemaProblem(schema: JsonSchema, content: object): string | undefined {
  const fit = schemaCheck(schema)(content);
  return fit.fits ? undefined : fit.problem;
}

/** The pending tool call of this customer in this conversation. @throws Problem NOTHING_PENDING. */
async function askedOf(customer: SessionPrincipal, { _id }: ConversationRef, callId: string): Promise<ToolCall> {
  const call = await findToolCall(customer.orgId, callId);
  if (call?.conv_id !== _id || call.customer_id !== customer.customerId) throw nothingPending();
  return call;
}

/**
 * The customer confirms or declines a call, or proves their identity with a step-up token of their own session. The
 * acknowledgement comes through the frame log. @throws Problem NOTHING_PENDING, VALIDATION.
 */
export async function answerCall(
  ctx: Context,
  customer: SessionPrincipal,
  conversation: ConversationRef,
  callId: string,
  said: { approved: boolean } | { token: string },
): Promise<void> {
  const call = await askedOf(customer, conversation, callId);
  const by = 'token' in said ? 'step_up' : 'customer';
  const now = ctx.clock();
  // A customer may decline any call that waits for them, also one that waits for a step-up token.
  const asked = call.awaited === 'step_up' && 'approved' in said && !said.approved ? 'step_up' : by;
  const refusal = refusalOf(call, { by: asked, approved: true, at: now });
  if (refusal) throw nothingPending(refusal);
  if ('token' in said && !(await consumeStepUp(customer.orgId, customer.sessionId, said.token, now)))
    throw new Problem('VALIDATION', { message: 'step_up_token: is not valid any more; obtain another one' });
  const approved = 'token' in said || said.approved;
  await decide(ctx, call, { by: asked, approved, actor: customer.customerId });
  await conversationWriter(conversation, ctx.clock).append({
    type: 'confirm_ack',
    key: `confirm_ack:${callId}`,
    body: { pending_id: callId, approved },
  });
}
