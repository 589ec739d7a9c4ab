/**
 * The agent's turn in a conversation: decides what to answer, and whether to escalate to a person. The turn itself
 * stores only questions without an answer. The caller shows the pieces of the answer and stores it.
 */
import { sourcesOf, takesTime, writeAnswer, type AnswerSource } from '../knowledge/answer.ts';
import { findKnowledge, isOutdated, type Found } from '../knowledge/find.ts';
import { noteGap } from '../knowledge/gaps.ts';
import type { AgentDeps } from '../knowledge/deps.ts';
import { awayNote } from './away.ts';
import { recordOf, type Made, type TurnRecord } from './record.ts';
import type { Listener, Patience, ReadMessage, Turns } from '../../intelligence/intelligence.ts';
import { recordCustomerGap } from '../../models/chat/customergap.ts';
import type { Asker } from '../../models/knowledge/gap.ts';
import { findSupportConfig } from '../../models/integrations/supportconfig.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { missesToEscalate, type EscalationReason } from '../../models/rules/chat/conversation.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import type { Language } from '../../models/rules/language/language.ts';
import { takenOffer, type Offer } from '../../models/rules/knowledge/offers.ts';
import { passagesOf } from '../../models/rules/knowledge/retrieval.ts';

/** From this attempt on, the customer is told that the documents cannot be searched. */
const attemptsToTell = 6;

export type Asked = {
  orgId: string;
  mode: Mode;
  body: string;
  /** Who asks. An unanswered question is recorded with its asker. Absent for a draft, which records nothing. */
  asker?: Asker;
  /** Earlier messages, oldest first. */
  history: Turns;
  /** The segments to search: the result of `searchedSegments`. */
  segments: readonly string[];
  /** The customer's situation: the result of `situationOf`. */
  situation?: Record<string, unknown> | undefined;
  /** The number of questions in a row without an answer before this message. */
  misses: number;
  /** The number of this attempt at the answer, from 1. */
  attempt: number;
  /**
   * Set while the conversation waits for a person whom the customer did not ask for. Then the agent answers only when
   * it is sure, and a request for a human escalates.
   */
  onlySure?: boolean;
  /** All model calls of the turn share this object: once the model has not answered in time, it is not asked again. */
  patience: Patience;
  /** Whether the rate limit of test mode allows an answer now. */
  allowed: () => Promise<boolean>;
};

export type TurnAnswer = {
  body: string;
  sources: AnswerSource[];
  has_context: boolean;
  /** Set for an answer from documents. `low`: the answer offers passages that may help. */
  confidence?: 'high' | 'low';
  offers?: Offer[];
  /** The effect on the count of misses: `answered` resets it, `missed` increments it, undefined leaves it unchanged. */
  counts?: 'answered' | 'missed';
  escalate?: EscalationReason;
  record: TurnRecord;
};

type Said = Pick<TurnAnswer, 'body' | 'counts' | 'escalate'>;
/**
 * Answers a message. Undefined when `onlySure` is set and there is no sure answer: the person whom the conversation
 * waits for should answer.
 * @throws the error that prevents the search, in the attempts before `attemptsToTell`. From that attempt on, the answer
 * is that the documents cannot be searched, and a person is called.
 */
export async function takeTurn(
  deps: AgentDeps,
  asked: Asked,
  listener: Listener,
  signal?: AbortSignal,
): Promise<TurnAnswer | undefined> {
  const began = performance.now();
  const offered = offerTakenBy(asked);
  const message = await deps.intelligence.read(asked);
  const { intent, language } = message;
  let { degraded } = message;
  /** Outside the team's hours, a message that calls a person also says when the team is back. */
  const calling = async (said: Said): Promise<Said> =>
    said.escalate === undefined
      ? said
      : { ...said, body: said.body + (await awayNote(asked.orgId, language, deps.clock())) };
  const fixed = async (given: Said): Promise<TurnAnswer | undefined> => {
    if (asked.onlySure && given.escalate !== 'asked') return undefined;
    const said = await calling(given);
    await listener.piece(said.body);
    return { ...said, sources: [], has_context: false, record: recordOf({ ...asked, degraded }, began) };
  };
  if (!offered && intent !== 'question') return fixed(withoutDocuments(intent, language));
  if (!(await asked.allowed())) return fixed({ body: ownSentences.overTestLimit[language] });
  let found: Found;
  try {
    const understood = offered
      ? await deps.intelligence.read({ body: offered.question, history: [] })
      : await understand(deps, asked, message, signal);
    degraded ||= understood.degraded;
    found = await findKnowledge(deps, asked, understood, { offered });
  } catch (error) {
    signal?.throwIfAborted();
    if (asked.attempt < attemptsToTell) throw error;
    return fixed({ body: ownSentences.outOfOrder[language], escalate: 'failed' });
  }
  const refused = answersIn(asked.history)[0]?.offers !== undefined && !offered;
  // A customer who ignores two offers in a row has found nothing, so a person is called instead of a third offer.
  const last = refused && asked.misses + 1 >= missesToEscalate;
  if (asked.onlySure && found.retrieval.confidence === 'low') found = withoutOffers(found);
  const made = await answerFrom(
    deps,
    { ...asked, language, mayOffer: !last && !asked.onlySure },
    found,
    listener,
    signal,
  );
  const { text, used = [], offers } = made.written ?? {};
  const said: Said =
    text === undefined
      ? await calling(miss(asked.misses, language))
      : { body: text, ...counting(offers !== undefined, refused) };
  const { asker } = asked;
  if (said.counts === 'missed' && asker)
    await noteGap(deps, { ...asked, query: asked.body }, made.found, (org, mode, gap) =>
      recordCustomerGap(org, mode, gap, asker),
    );
  if (text === undefined && asked.onlySure) return undefined;
  if (text === undefined) await listener.piece(said.body);
  return {
    ...said,
    sources: sourcesOf(passagesOf(made.found.retrieval), used),
    has_context: text !== undefined,
    ...(text !== undefined && { confidence: offers ? 'low' : 'high' }),
    ...(offers && { offers }),
    record: recordOf({ ...asked, degraded }, began, made),
  };
}

/** The agent's messages in the history, newest first. */
const answersIn = (history: Turns): Turns => history.filter(({ role }) => role === 'ai').toReversed();

/** The offer in the history that the message takes, by its button or by the same words. */
export const offerTakenBy = ({ body, history }: Pick<Asked, 'body' | 'history'>): Offer | undefined =>
  takenOffer(
    body,
    answersIn(history).flatMap(({ offers = [] }) => offers),
  );

/**
 * The effect of an answer on the count of misses: it resets the count, except that an offer after an ignored offer
 * counts as a miss.
 */
const counting = (isOffer: boolean, refused: boolean): Pick<TurnAnswer, 'counts'> => ({
  counts: isOffer && refused ? 'missed' : 'answered',
});

/** Treats the passages that merely may help as if nothing was found. */
const withoutOffers = (found: Found): Found => ({ ...found, retrieval: { ...found.retrieval, confidence: 'none' } });

type Answering = Asked & { language: Language; mayOffer: boolean };

/**
 * Writes an answer from the retrieved passages. If the passages changed while a model wrote or failed to write, the
 * answer is withdrawn, and the new answer consists of sentences of the current passages.
 */
async function answerFrom(
  deps: AgentDeps,
  asked: Answering,
  found: Found,
  listener: Listener,
  signal?: AbortSignal,
): Promise<Made> {
  const retrieved = performance.now();
  const { patience } = asked;
  const written = await writeAnswer(deps, asked, found, { listener, signal, patience });
  if (!takesTime(written) || !(await isOutdated(asked, found)))
    return { found: written?.withheld ? withoutOffers(found) : found, retrieved, written };
  await listener.again();
  const anew = await findKnowledge(deps, asked, found, { settings: findSupportConfig });
  const rewritten = await writeAnswer(deps, asked, anew, { listener, patience, atOnce: true });
  const by = {
    ...rewritten?.by,
    generated_by: 'extractive',
    model_error: written?.by.model_error ?? 'The documents changed while it wrote.',
  } as const;
  return { found: anew, retrieved, written: { text: undefined, used: [], ...rewritten, by } };
}

/** The fixed reply to a message that needs no documents: a request for a human, or a courtesy. */
function withoutDocuments(intent: Exclude<ReadMessage['intent'], 'question'>, language: Language): Said {
  if (intent === 'person') return { body: ownSentences.called[language], escalate: 'asked' };
  return { body: ownSentences[intent][language] };
}

function miss(before: number, language: Language): Said {
  const last = before + 1 >= missesToEscalate;
  return last
    ? { body: ownSentences.notFoundAgain[language], counts: 'missed', escalate: 'no_context' }
    : { body: ownSentences.notFound[language], counts: 'missed' };
}

/** Rewrites the message as a self-contained question. */
async function understand(
  { intelligence }: AgentDeps,
  { orgId, body, history, patience }: Asked,
  read: ReadMessage,
  signal?: AbortSignal,
): Promise<Pick<ReadMessage, 'searched' | 'askings' | 'context' | 'degraded'>> {
  if (!history.some(({ role }) => role === 'customer')) return read;
  const searched = await intelligence.rewrite({ body, history, read }, { signal, patience, about: { org_id: orgId } });
  return searched === read.searched ? read : intelligence.read({ body: searched, history: [] });
}
