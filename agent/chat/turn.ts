/**
 * The agent's turn in a conversation: what it says to a message, whether it calls a person, and how that came about. It
 * stores nothing and sends nothing itself: its caller shows the pieces and stores the answer.
 */
import { findKnowledge, isOutdated, noteGap, sourcesOf } from '../knowledge/answer.ts';
import type { AnswerSource, Found } from '../knowledge/answer.ts';
import type { AgentDeps } from '../knowledge/deps.ts';
import { recordOf, type Made, type TurnRecord } from './record.ts';
import type { AnswerOptions, Listener, ReadMessage, Turns, Written } from '../../intelligence/intelligence.ts';
import { recordCustomerGap } from '../../models/chat/customergap.ts';
import type { Asker } from '../../models/knowledge/gap.ts';
import { findSupportConfig } from '../../models/integrations/supportconfig.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { missesToEscalate, type EscalationReason } from '../../models/rules/chat/conversation.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import type { Language } from '../../models/rules/language/language.ts';
import { takenOffer, type Offer } from '../../models/rules/knowledge/offers.ts';
import { passagesOf } from '../../models/rules/knowledge/retrieval.ts';

/** From this attempt on, a customer is told that the documents cannot be searched. */
const attemptsToTell = 6;

export type Asked = {
  orgId: string;
  mode: Mode;
  body: string;
  asker: Asker;
  /** What was said before, oldest first. */
  history: Turns;
  /** From `searchedSegments`. */
  segments: readonly string[];
  /** From `situationOf`. */
  situation?: Record<string, unknown> | undefined;
  /** Answers without context in a row before this one. */
  misses: number;
  /** Which attempt at this answer it is, from 1. */
  attempt: number;
  /**
   * A person is awaited whom the customer did not ask for: only what is surely known is said, and to a call for a person that
   * one is called.
   */
  onlySure?: boolean;
  /** Whether test mode still allows an answer this minute. */
  allowed: () => Promise<boolean>;
};

export type TurnAnswer = {
  body: string;
  sources: AnswerSource[];
  has_context: boolean;
  /** Of an answer from documents. `low`: offers, which may help. */
  confidence?: 'high' | 'low';
  offers?: Offer[];
  /** What it is in the count of misses: an end to them, or one more; undefined: it leaves them as they are. */
  counts?: 'answered' | 'missed';
  escalate?: EscalationReason;
  record: TurnRecord;
};

type Said = Pick<TurnAnswer, 'body' | 'counts' | 'escalate'>;
/**
 * Answers a message. Undefined: it is left to the person who is awaited. @throws the error that keeps the documents from being
 * searched, in the first attempts.
 */
export async function takeTurn(
  deps: AgentDeps,
  asked: Asked,
  listener: Listener,
  signal?: AbortSignal,
): Promise<TurnAnswer | undefined> {
  const began = performance.now();
  const fixed = async (said: Said): Promise<TurnAnswer | undefined> => {
    if (asked.onlySure && said.escalate !== 'asked') return undefined;
    await listener.piece(said.body);
    return { ...said, sources: [], has_context: false, record: recordOf(asked, began) };
  };
  const answers = asked.history.filter(({ role }) => role === 'ai').toReversed();
  const offered = takenOffer(
    asked.body,
    answers.flatMap(({ offers = [] }) => offers),
  );
  const message = await deps.intelligence.read(asked);
  const { intent, language } = message;
  if (!offered && intent !== 'question') return fixed(withoutDocuments(intent, language));
  if (!(await asked.allowed())) return fixed({ body: ownSentences.overTestLimit[language] });
  let found: Found;
  try {
    const understood = offered
      ? await deps.intelligence.read({ body: offered.question, history: [] })
      : await understand(deps, asked, message, signal);
    found = await findKnowledge(deps, asked, understood, { offered });
  } catch (error) {
    signal?.throwIfAborted();
    if (asked.attempt < attemptsToTell) throw error;
    return fixed({ body: ownSentences.outOfOrder[language], escalate: 'failed' });
  }
  const refused = answers[0]?.offers !== undefined && !offered;
  // Somebody who was offered something twice and took nothing has found nothing; a person is called before a third offer.
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
    text === undefined ? miss(asked.misses, language) : { body: text, ...counting(offers !== undefined, refused) };
  if (said.counts === 'missed')
    await noteGap(deps, { ...asked, query: asked.body }, made.found, (org, mode, gap) =>
      recordCustomerGap(org, mode, gap, asked.asker),
    );
  if (text === undefined && asked.onlySure) return undefined;
  if (text === undefined) await listener.piece(said.body);
  return {
    ...said,
    sources: sourcesOf(passagesOf(made.found.retrieval), used),
    has_context: text !== undefined,
    ...(text !== undefined && { confidence: offers ? 'low' : 'high' }),
    ...(offers && { offers }),
    record: recordOf(asked, began, made),
  };
}

/**
 * What an answer is in the count of misses. An offer is none; one that comes when the offers before it were not taken is: the
 * customer has asked twice and found nothing.
 */
function counting(isOffer: boolean, refused: boolean): Pick<TurnAnswer, 'counts'> {
  if (!isOffer) return { counts: 'answered' };
  return refused ? { counts: 'missed' } : {};
}

/** Nothing is known of what only may help. */
const withoutOffers = (found: Found): Found => ({ ...found, retrieval: { ...found.retrieval, confidence: 'none' } });

type Answering = Asked & { language: Language; mayOffer: boolean };

/** Writes from what was found; when that changed while a model wrote, from what is found now, in its own sentences. */
async function answerFrom(
  deps: AgentDeps,
  asked: Answering,
  found: Found,
  listener: Listener,
  signal?: AbortSignal,
): Promise<Made> {
  const retrieved = performance.now();
  const written = await write(deps, asked, found, { listener, signal });
  const isByModel = written?.text !== undefined && written.by.generated_by === 'model';
  if (!isByModel || !(await isOutdated(asked, found)))
    return { found: written?.withheld ? withoutOffers(found) : found, retrieved, written };
  await listener.again();
  const anew = await findKnowledge(deps, asked, found, { settings: findSupportConfig });
  const rewritten = await write(deps, asked, anew, { listener, atOnce: true });
  const by = {
    ...rewritten?.by,
    generated_by: 'extractive',
    model_error: 'The documents changed while it wrote.',
  } as const;
  return { found: anew, retrieved, written: { text: undefined, used: [], ...rewritten, by } };
}

/** Undefined when there is nothing to write from. */
async function write(
  { intelligence }: AgentDeps,
  { orgId, body, history, language, situation, mayOffer }: Answering,
  { retrieval }: Found,
  options: AnswerOptions,
): Promise<Written | undefined> {
  if (retrieval.confidence === 'none') return undefined;
  const ask = { body, history, language, situation, mayOffer, found: retrieval };
  return intelligence.answer(ask, { ...options, about: { org_id: orgId } });
}

/** What needs no document: a call for a person, a courtesy. */
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

/** The message as a question that is understood without the conversation. */
async function understand(
  { intelligence }: AgentDeps,
  { orgId, body, history }: Asked,
  read: ReadMessage,
  signal?: AbortSignal,
): Promise<Pick<Found, 'searched' | 'askings'>> {
  if (!history.some(({ role }) => role === 'customer')) return read;
  const searched = await intelligence.rewrite({ body, history, read }, { signal, about: { org_id: orgId } });
  return searched === read.searched ? read : intelligence.read({ body: searched, history: [] });
}
