/**
 * The agent's use of tools in a turn: whether a message wants one of the approved tools, and what is said about calls that have
 * ended. It calls nothing: its caller does, and takes the turn again.
 */
import { findKnowledge } from '../knowledge/answer.ts';
import type { AgentDeps } from '../knowledge/deps.ts';
import type { Told, ToolStep } from './toolbox.ts';
import type { Asked } from './turn.ts';
import type { CallMade, Toolbox, Turns } from '../../intelligence/intelligence.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import type { Language } from '../../models/rules/language/language.ts';
import { maxShownLength } from '../../models/rules/mcp/result.ts';
import { isRead, titleOf, type Outcome } from '../../models/rules/mcp/tool.ts';

/** Outcomes after which the documents are asked as if there were no tool. */
const silent: readonly Outcome[] = ['suspended', 'rate_limited'];

export async function useTools(
  deps: AgentDeps,
  asked: Asked,
  toolbox: Toolbox,
  signal?: AbortSignal,
): Promise<ToolStep> {
  const { offered, made } = toolbox;
  if (made.length === 0 && offered.length === 0) return undefined;
  const { body, history } = asked;
  const { intent, language } = await deps.intelligence.read({ body, history });
  const last = made.at(-1);
  if (last && endsTurn(last)) return { told: toldOf(last, language) };
  const request = requestBefore(history);
  // What answers a question of the agent's is no courtesy, whatever it looks like.
  if (intent === 'person' || (intent !== 'question' && request.length === 0)) return undefined;
  const wish = { body, history, request, toolbox, now: deps.clock() };
  const chosen = await deps.intelligence.chooseTool(wish, { signal, about: { org_id: asked.orgId } });
  // Once something was called, nothing is asked back: what a tool answers may talk the model into wanting more.
  if (!chosen || ('missing' in chosen && last))
    return last && !silent.includes(last.outcome) ? { told: toldOf(last, language) } : undefined;
  if (!('missing' in chosen)) return chosen;
  // Documents that answer are better than a question back: "How do I cancel an order?" wants to know how.
  const found = await findKnowledge(deps, asked, await deps.intelligence.read({ body, history: [] }));
  if (found.retrieval.confidence !== 'none') return undefined;
  return { told: { body: askFor(chosen.missing, language) } };
}

/**
 * Whether the turn ends with this call, whatever else was wanted: nobody goes on after somebody has refused, or where something
 * may have been done. A read that failed may be tried in another way.
 */
function endsTurn({ outcome, unknown, ...call }: CallMade): boolean {
  if (unknown) return true;
  if (outcome === 'ok' || silent.includes(outcome)) return false;
  return !(outcome === 'error' && isRead(call));
}

/**
 * The customer's messages to which the agent has answered with a question back, up to now; the first of them says what is
 * wanted. Empty when the last answer was another one.
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

/** What a customer is told about a call that has ended. */
function toldOf({ tool_name, outcome, unknown, byMember, result }: CallMade, language: Language): Told {
  if (unknown) return { body: ownSentences.actionUnknown[language], escalate: 'unknown_outcome' };
  if (outcome === 'ok') {
    const text = result?.text.slice(0, maxShownLength) ?? '';
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
  } as const;
  return { body: ownSentences[said[outcome as keyof typeof said]][language] };
}
