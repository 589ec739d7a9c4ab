/**
 * The agent's use of tools in a turn: decides whether a message needs an approved tool, and tells the customer the
 * results of calls that have ended. The functions here call no tool: their caller calls it, and then repeats the turn.
 */
import { findKnowledge, type Found } from '../knowledge/find.ts';
import type { AgentDeps } from '../knowledge/deps.ts';
import { awayNote } from './away.ts';
import { offerTakenBy, type Asked } from './turn.ts';
import type { CallMade, Toolbox, Turns, WantedCall, WrittenBy } from '../../intelligence/intelligence.ts';
import type { EscalationReason } from '../../models/rules/chat/conversation.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import type { Language } from '../../models/rules/language/language.ts';
import { maxShownLength, shortened } from '../../models/rules/mcp/result.ts';
import { isRead, titleOf, type Outcome } from '../../models/rules/mcp/tool.ts';

/** The agent's text for the customer about tool calls. */
type Told = {
  body: string;
  escalate?: EscalationReason;
  /** Set when the text reports a successful call. Then the count of unanswered questions (misses) starts again at 0. */
  counts?: 'answered';
  /** What wrote the text; absent for a fixed sentence of the agent and for the tool's own text. */
  by?: WrittenBy;
};
/**
 * `call`: a tool to call; the turn continues when the call has ended. `told`: the complete answer. Undefined: the turn
 * answers from documents.
 */
type ToolStep = { call: WantedCall } | { told: Told } | undefined;

/** The customer is not told of a call with one of these outcomes, unless somebody was asked about the call. */
const droppedOnes: readonly Outcome[] = ['suspended', 'rate_limited'];
/**
 * Whether a call is silent: the customer is not told of it. If all calls are silent, the turn answers from documents.
 */
const isSilent = ({ outcome, unknown, asked }: CallMade): boolean =>
  !unknown && !asked && droppedOnes.includes(outcome);
/** The successful calls that changed something. */
const changesIn = (made: readonly CallMade[]): CallMade[] =>
  made.filter((call) => call.outcome === 'ok' && !isRead(call));

export async function useTools(
  deps: AgentDeps,
  asked: Asked,
  toolbox: Toolbox,
  signal?: AbortSignal,
): Promise<ToolStep> {
  const { offered, made } = toolbox;
  // A message that takes an offer is answered with the offered passage, so no tool is called even if its words fit one.
  if (made.length === 0 && (offered.length === 0 || offerTakenBy(asked))) return undefined;
  const { body, history, patience } = asked;
  const { intent, language } = await deps.intelligence.read({ body, history });
  const last = made.at(-1);
  if (last && endsTurn(last)) return tell(deps, asked, made, language);
  const request = requestBefore(history);
  // A reply to the agent's own question is never small talk, even if it looks like small talk ("yes", "thanks").
  if (intent === 'person' || (intent !== 'question' && request.length === 0)) return undefined;
  // In test mode, `allowed` takes the answer from a rate limit. After a call, the answer is taken already.
  if (made.length === 0 && !(await asked.allowed())) return { told: { body: ownSentences.overTestLimit[language] } };
  const wish = { body, history, request, toolbox, now: deps.clock() };
  const chosen = await deps.intelligence.chooseTool(wish, { signal, patience, about: { org_id: asked.orgId } });
  // After a call, the customer is not asked for arguments, because instructions in a tool's result could make the model
  // request data.
  if (!chosen || ('missing' in chosen && last)) return tell(deps, asked, made, language);
  if ('told' in chosen) return { told: servedBy(chosen.told, made, language) };
  if ('call' in chosen) return chosen;
  // An answer from documents is better than asking for arguments: "How do I cancel an order?" wants instructions.
  let found: Found;
  try {
    found = await findKnowledge(deps, asked, await deps.intelligence.read({ body, history: [] }));
  } catch {
    signal?.throwIfAborted();
    // The search failed. `takeTurn` searches again, and decides whether the attempt is repeated or the customer is
    // told.
    return undefined;
  }
  if (found.retrieval.confidence !== 'none') return undefined;
  return { told: { body: askFor(chosen.missing, language) } };
}

/**
 * Whether the turn ends with this call. After a success, a silent call or a failed read, another tool may be called or
 * the documents answer. After any other outcome, such as a refusal or an unknown outcome, the turn ends.
 */
function endsTurn(call: CallMade): boolean {
  if (call.unknown) return true;
  if (call.outcome === 'ok' || isSilent(call)) return false;
  return !(call.outcome === 'error' && isRead(call));
}

/**
 * The customer's latest messages in a row that the agent has answered with a question for missing arguments. The first
 * of them states the request. Empty when the agent's last answer was not such a question.
 */
function requestBefore(history: Turns): string[] {
  const found: string[] = [];
  for (let at = history.length - 1; at > 0; at -= 2) {
    const [said, answer] = [history[at - 1]!, history[at]!];
    if (said.role !== 'customer' || answer.role !== 'ai' || !asksBack(answer.body)) break;
    found.unshift(said.body);
  }
  return found;
}

const asksBack = (body: string): boolean =>
  Object.values(ownSentences.needsMore).some((sentence) => body.startsWith(sentence));

const askFor = (missing: readonly string[], language: Language): string =>
  `${ownSentences.needsMore[language]} ${missing.map((name) => titleOf(name).toLowerCase()).join(', ')}`;

/**
 * The model's text about the results of tools; it counts as an answer. If sentences were removed from the text, the
 * results of the calls that changed something come first, because a removed sentence may have told of a change.
 */
function servedBy({ body, by }: { body: string; by: WrittenBy }, made: readonly CallMade[], language: Language): Told {
  const changes = by.dropped === undefined ? [] : changesIn(made);
  return { body: [...changes.map((call) => toldOf(call, language).body), body].join('\n\n'), by, counts: 'answered' };
}

/**
 * What the customer is told: the results of earlier calls that changed something, then how the last call that is not
 * silent ended. Without the earlier results, a failed last call would read as if nothing was done. The text counts as
 * an answer when a call in it was successful. Undefined when all calls are silent.
 */
async function tell(
  deps: Pick<AgentDeps, 'clock'>,
  { orgId }: Pick<Asked, 'orgId'>,
  made: readonly CallMade[],
  language: Language,
): Promise<ToolStep> {
  const at = made.findLastIndex((call) => !isSilent(call));
  const last = made[at];
  if (!last) return undefined;
  const changes = changesIn(made.slice(0, at));
  const told = toldOf(last, language);
  const away = told.escalate === undefined ? '' : await awayNote(orgId, language, deps.clock());
  const body = [...changes.map((call) => toldOf(call, language).body), told.body].join('\n\n') + away;
  const served = changes.length > 0 || (last.outcome === 'ok' && !last.unknown);
  return { told: { ...told, body, ...(served && { counts: 'answered' }) } };
}

/** The text for the customer about a call that has ended. */
function toldOf({ tool_name, outcome, unknown, byMember, result }: CallMade, language: Language): Told {
  if (unknown) return { body: ownSentences.actionUnknown[language], escalate: 'unknown_outcome' };
  if (outcome === 'ok') {
    const text = shortened(result?.text ?? '', maxShownLength);
    return { body: text === '' ? ownSentences.actionDone[language] : `${titleOf(tool_name)}:\n${text}` };
  }
  if (outcome === 'handed_off') return { body: ownSentences.personOnly[language], escalate: 'human_only' };
  if (outcome === 'denied' && byMember) return { body: ownSentences.actionRefused[language] };
  const said = {
    declined: 'actionDeclined',
    expired: 'actionExpired',
    denied: 'signInFirst',
    error: 'actionFailed',
    timeout: 'actionFailed',
    suspended: 'actionFailed',
    rate_limited: 'actionFailed',
  } as const;
  return { body: ownSentences[said[outcome]][language] };
}
