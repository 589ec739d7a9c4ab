/** Asks for approval of a tool call, and passes a tool's questions (elicitation) on to the customer. */
import type { CallDeps } from './deps.ts';
import { endCall, notice, record, writerFor } from './telling.ts';
import { checkOf } from '../../../clients/schema/schema.ts';
import { intentFor } from '../../../models/base/pending.ts';
import { listMessages, type Message } from '../../../models/chat/message.ts';
import { moveCall, questionIdOf, readQuestions, ToolCallModel, type ToolCall } from '../../../models/mcp/call.ts';
import { noticesWork } from '../../../models/rules/chat/work.ts';
import { languageOfFirst, type Language } from '../../../models/rules/language/language.ts';
import { ownSentences } from '../../../models/rules/language/escalation.ts';
import { agreementText, detailsOf } from '../../../models/rules/mcp/agreement.ts';
import { waitMs, type Awaited } from '../../../models/rules/mcp/call.ts';
import { maxRounds, openQuestion, questionsOf } from '../../../models/rules/mcp/question.ts';
import { titleOf, type ApprovedTool } from '../../../models/rules/mcp/tool.ts';

/** The number of messages before the current one whose language counts when the current one shows none. */
const readForLanguage = 10;

/** Makes a new call wait for approval by `awaited`. */
export async function askToAgree(deps: CallDeps, call: ToolCall, awaited: Awaited): Promise<void> {
  const ask_until = new Date(deps.clock().getTime() + waitMs[awaited]);
  // A separate workflow notifies members, so they are notified even if this process dies at any point.
  const intents = awaited === 'member' ? [intentFor(noticesWork(call.org_id, { callId: call._id }), deps.clock())] : [];
  if (await moveCall(call, 'ask', { awaited, ask_until }, { intents })) await deps.start(ToolCallModel, call, intents);
}

/** Asks for approval or for input. Idempotent: a repeated call shows nothing twice. */
export async function ask(deps: CallDeps, call: ToolCall, { description, input_schema }: ApprovedTool): Promise<void> {
  const { _id: pending_id, tool_name, awaited } = call;
  if (awaited === 'input') return askBack(deps, call);
  const given = JSON.parse(call.arguments) as Record<string, unknown>;
  const details = detailsOf(input_schema, given);
  const body = agreementText(description, details);
  const what = { pending_id, tool_name, title: titleOf(tool_name), body, details, arguments: given };
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
    const { memberAsked } = ownSentences;
    await notice(deps, call, async (message) => memberAsked[await languageAt(message)], `asked:${pending_id}`);
  }
}

/** The language in which the customer wrote this message, or the newest earlier one that shows a language. */
async function languageAt({ org_id, conv_id, position, body }: Message): Promise<Language> {
  const before = await listMessages(org_id, conv_id, { limit: readForLanguage, before: position });
  const said = before.filter(({ role }) => role === 'customer').toReversed();
  return languageOfFirst([body, ...said.map((message) => message.body)]);
}

/** Passes the tool's question on to the customer, who alone may answer it. */
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

/** Records in the audit log whether the customer answered the questions of a round, but never the answers. */
export async function recordReplies(deps: CallDeps, call: ToolCall): Promise<void> {
  const actions = readQuestions(call)!.asked.map(({ reply }) => reply?.action);
  const given = actions.every((action) => action === 'accept') ? 'answered_input' : 'refused_input';
  await record(deps, { ...call, decided_by: call.customer_id }, 'approval', given, String(call.rounds));
}

/**
 * Handles a tool's question. The tool has done nothing yet, so the call waits for the customer. When the customer
 * cannot be asked, the call is handed off to a person.
 */
export async function inquire(
  deps: CallDeps,
  call: ToolCall,
  attempt: string,
  { requests, state }: { requests: Record<string, unknown>; state?: string },
): Promise<void> {
  const { rounds = 0 } = call;
  const questions = questionsOf(requests, state);
  // A customer who writes by mail cannot be asked, because a mail is answered much later and elsewhere.
  const askable =
    questions &&
    rounds < maxRounds &&
    call.session_id !== undefined &&
    questions.asked.every(({ schema }) => checkOf(schema));
  if (askable)
    await moveCall(
      call,
      'inquire',
      {
        awaited: 'input',
        ask_until: new Date(deps.clock().getTime() + waitMs.input),
        questions: JSON.stringify(questions),
        rounds: rounds + 1,
      },
      { only: { attempt } },
    );
  else await endCall(deps, call, 'finish', 'handed_off', {}, { attempt });
}
