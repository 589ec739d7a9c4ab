/**
 * The agent's use of tools in a turn, without a model: whether a message asks for one of the approved tools and gives what it
 * needs, and what is said about a call that has ended. It calls nothing: its caller does, and takes the turn again.
 */
import { findKnowledge } from './answer.ts';
import type { AgentDeps } from './deps.ts';
import { readAskings, readMessage } from './reading.ts';
import type { Asked } from './turn.ts';
import { BadSchema, schemaCheck } from '../clients/schema/schema.ts';
import { ownSentences } from '../models/rules/language/escalation.ts';
import type { Language } from '../models/rules/language/language.ts';
import { argumentsFrom, type Given } from '../models/rules/mcp/arguments.ts';
import { clearlyBest, cosine, describedAs, fitting, wordFit } from '../models/rules/mcp/fit.ts';
import { maxShownLength, type ToolResult } from '../models/rules/mcp/result.ts';
import { isRead, titleOf, type ApprovedTool, type Outcome } from '../models/rules/mcp/tool.ts';
import type { EscalationReason } from '../models/rules/chat/conversation.ts';

/** A call that was made for this message, and has ended. */
export type CallMade = {
  tool_name: string;
  outcome: Outcome;
  unknown: boolean;
  /** Whether a member was asked. */
  byMember: boolean;
  result?: ToolResult | undefined;
};
export type Toolbox = {
  offered: readonly ApprovedTool[];
  /** The customer's own, if a backend vouches for it. */
  email: string | undefined;
  made: readonly CallMade[];
};
export type WantedCall = { tool: ApprovedTool; arguments: Record<string, unknown> };
export type Told = { body: string; escalate?: EscalationReason };
/** `call`: the turn goes on when it has ended. `told`: the whole answer. Undefined: the documents answer. */
export type ToolStep = { call: WantedCall } | { told: Told } | undefined;

/** Outcomes after which the documents are asked as if there were no tool. */
const silent: readonly Outcome[] = ['suspended', 'rate_limited'];

export async function useTools(deps: AgentDeps, asked: Asked, { offered, email, made }: Toolbox): Promise<ToolStep> {
  if (made.length === 0 && offered.length === 0) return undefined;
  const { intent, language } = await readMessage(deps, asked.body, asked.history);
  const last = made.at(-1);
  if (last) return silent.includes(last.outcome) ? undefined : { told: toldOf(last, language) };
  if (offered.length === 0 || intent !== 'question') return undefined;
  const best = await bestOf(deps, asked.body, offered, email);
  if (!best) return undefined;
  const { tool, given } = best;
  if (given.missing.length === 0) {
    return fits(tool, given.arguments) ? { call: { tool, arguments: given.arguments } } : undefined;
  }
  // Documents that answer are better than a question back: "How do I cancel an order?" wants to know how.
  const found = await findKnowledge(deps, asked, {
    searched: asked.body,
    askings: await readAskings(deps, asked.body),
  });
  if (found.retrieval.confidence !== 'none') return undefined;
  return { told: { body: askFor(given.missing, language) } };
}

type Candidate = { tool: ApprovedTool; given: Given; fit: number };

/** The tool that a message is clearly about; one whose arguments are given comes before one that has to ask back. */
async function bestOf(
  { embedding }: AgentDeps,
  message: string,
  offered: readonly ApprovedTool[],
  email: string | undefined,
): Promise<Candidate | undefined> {
  const { fits, bounds } = await fitOf(embedding, message, offered.map(describedAs));
  const candidates = offered
    .map((tool, index): Candidate => {
      const given = argumentsFrom(message, tool.input_schema, { email }, { reads: isRead(tool) });
      return { tool, given, fit: fits[index]! };
    })
    .filter(({ fit, given: { arguments: found, missing } }) => {
      // What the customer wrote beside the subject is evidence; what is known anyway, or asked for, is none.
      const told =
        missing.length === 0 && Object.values(found).some((value) => value !== email && value !== message.trim());
      return fit >= (told ? bounds.withArguments : bounds.alone);
    });
  const ready = candidates.filter(({ given }) => given.missing.length === 0);
  const among = ready.length > 0 ? ready : candidates.filter(({ given }) => canBeAsked(given));
  return clearlyBest(among.map((candidate) => ({ item: candidate, fit: candidate.fit })));
}

/** A customer can be asked for one or two things; a form with more is for a page. */
const canBeAsked = ({ missing }: Given): boolean =>
  missing.length <= 2 && !missing.some((name) => /e-?mail/i.test(name));

/** By the embedded model where it answers in time, else by words. */
async function fitOf(
  embedding: AgentDeps['embedding'],
  message: string,
  descriptions: readonly string[],
): Promise<{ fits: number[]; bounds: (typeof fitting)[keyof typeof fitting] }> {
  try {
    if (embedding.local) {
      const [asked, ...told] = await embedding.local.sentences([message, ...descriptions]);
      return { fits: told.map((vector) => cosine(asked!, vector)), bounds: fitting.meaning };
    }
  } catch {
    // The words decide, as for documents.
  }
  return { fits: descriptions.map((text) => wordFit(message, text)), bounds: fitting.words };
}

function fits({ input_schema }: ApprovedTool, given: Record<string, unknown>): boolean {
  try {
    return schemaCheck(input_schema)(given).fits;
  } catch (error) {
    if (error instanceof BadSchema) return false;
    throw error;
  }
}

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
