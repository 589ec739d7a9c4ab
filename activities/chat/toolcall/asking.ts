/** Whoever has to agree to a call is asked, and the customer answers what the tool asks back. */
import type { CallDeps } from './deps.ts';
import { writerFor, record } from './telling.ts';
import { BadSchema, schemaCheck } from '../../../clients/schema/schema.ts';
import { collectionOf } from '../../../models/base/define.ts';
import { intentFor } from '../../../models/base/pending.ts';
import { MessageModel } from '../../../models/chat/message.ts';
import { moveCall, questionIdOf, readQuestions, ToolCallModel, type ToolCall } from '../../../models/mcp/call.ts';
import { noticesWork } from '../../../models/rules/chat/work.ts';
import { languageOf } from '../../../models/rules/language/language.ts';
import { ownSentences } from '../../../models/rules/language/escalation.ts';
import { agreementText, waitMs, type Awaited } from '../../../models/rules/mcp/call.ts';
import { maxRounds, openQuestion, questionsOf, type AskedBack } from '../../../models/rules/mcp/question.ts';
import { titleOf, type ApprovedTool } from '../../../models/rules/mcp/tool.ts';

/** Has a new call wait for whoever has to agree. */
export async function askToAgree(deps: CallDeps, call: ToolCall, awaited: Awaited): Promise<void> {
  const ask_until = new Date(deps.clock().getTime() + waitMs[awaited]);
  // Members are told by a workflow of their own, which goes on wherever this process dies.
  const intents = awaited === 'member' ? [intentFor(noticesWork(call.org_id, { callId: call._id }), deps.clock())] : [];
  if (await moveCall(call.org_id, call._id, 'ask', { awaited, ask_until }, { intents }))
    await deps.start(ToolCallModel, call, intents);
}

/** Tells whoever has to agree. Told again, it is told once. */
export async function ask(deps: CallDeps, call: ToolCall, { description }: ApprovedTool): Promise<void> {
  const { _id: pending_id, tool_name, awaited } = call;
  if (awaited === 'input') return askBack(deps, call);
  const given = JSON.parse(call.arguments) as Record<string, unknown>;
  const body = agreementText(description, given);
  const what = { pending_id, tool_name, title: titleOf(tool_name), body, arguments: given };
  await record(deps, call, 'approval', `asked_${awaited}`);
  if (awaited === 'customer') {
    await writerFor(deps, call).append({ type: 'confirm', key: `confirm:${pending_id}`, body: what });
  } else if (awaited === 'step_up') {
    await writerFor(deps, call).append({
      type: 'step_up',
      key: `step_up:${pending_id}`,
      body: { ...what, expires_at: call.ask_until!.toISOString() },
    });
  } else {
    await tellWaiting(deps, call);
  }
}

/** Puts the tool's question to the customer, who alone answers it. */
async function askBack(deps: CallDeps, call: ToolCall): Promise<void> {
  const { _id: pending_id, tool_name, rounds, ask_until } = call;
  const open = openQuestion(readQuestions(call)!);
  if (!open) return;
  const question_id = questionIdOf(call, open.number);
  await record(deps, call, 'approval', 'asked_input', String(rounds));
  await writerFor(deps, call).append({
    type: 'input',
    key: `input:${pending_id}:${question_id}`,
    body: {
      pending_id,
      question_id,
      tool_name,
      title: titleOf(tool_name),
      ...open.asked.question,
      expires_at: ask_until!.toISOString(),
    },
  });
}

/** Shown in place of the answer until it is there. */
async function tellWaiting(deps: CallDeps, call: ToolCall): Promise<void> {
  const message = await collectionOf(MessageModel).findOne({ _id: call.message_id, org_id: call.org_id });
  if (!message) return;
  await writerFor(deps, call).append({
    type: 'notice',
    key: `asked:${call._id}`,
    body: { message_id: message.reply_id, body: ownSentences.memberAsked[languageOf(message.body) ?? 'en'] },
    transient: true,
  });
}

/** What the customer did with the questions of a round; never what they answered. */
export async function recordReplies(deps: CallDeps, call: ToolCall): Promise<void> {
  const actions = readQuestions(call)!.asked.map(({ reply }) => reply?.action);
  const given = actions.every((action) => action === 'accept') ? 'answered_input' : 'refused_input';
  await record(deps, { ...call, decided_by: call.customer_id }, 'approval', given, String(call.rounds));
}

/** The tool asks back: it has done nothing, so the call waits for the customer, or for a person where nobody can be asked. */
export async function inquire(
  deps: CallDeps,
  call: ToolCall,
  attempt: string,
  { requests, state }: { requests: Record<string, unknown>; state?: string },
): Promise<void> {
  const { org_id, _id, rounds = 0 } = call;
  const questions = questionsOf(requests, state);
  // Mails are answered much later, and by another way.
  const askable =
    questions && rounds < maxRounds && call.session_id !== undefined && questions.asked.every(isAnswerable);
  if (askable)
    await moveCall(
      org_id,
      _id,
      'inquire',
      {
        awaited: 'input',
        ask_until: new Date(deps.clock().getTime() + waitMs.input),
        questions: JSON.stringify(questions),
        rounds: rounds + 1,
      },
      { only: { attempt } },
    );
  else await moveCall(org_id, _id, 'finish', { outcome: 'handed_off', ended_at: deps.clock() }, { only: { attempt } });
}

/** Whether answers can be held against the schema of a question. */
function isAnswerable({ schema }: AskedBack): boolean {
  try {
    schemaCheck(schema);
    return true;
  } catch (error) {
    if (error instanceof BadSchema) return false;
    throw error;
  }
}
