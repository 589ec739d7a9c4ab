/**
 * The agent's turn in a conversation: what it says to a message, whether it calls a person, and how that came about. It
 * stores nothing and sends nothing itself: its caller shows the pieces and stores the answer.
 */
import { findKnowledge, isOutdated, noteGap, sourcesOf } from './answer.ts';
import type { AgentDeps, AnswerSource, Found, Turns } from './answer.ts';
import { recordOf, type Made, type TurnRecord } from './record.ts';
import { write, writeExtractive, type Listener } from './write.ts';
import type { Asker } from '../models/knowledge/gap.ts';
import { findSupportConfig } from '../models/knowledge/supportconfig.ts';
import type { Mode } from '../models/rules/access/keys.ts';
import { missesToEscalate, type EscalationReason } from '../models/rules/chat/conversation.ts';
import { courtesyIn, ownSentences } from '../models/rules/language/escalation.ts';
import { languageOfFirst, type Language } from '../models/rules/language/language.ts';
import { asksForPerson } from '../models/rules/language/personcall.ts';
import { contextualize } from '../models/rules/language/question.ts';

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
  /** Whether test mode still allows an answer this minute. */
  allowed: () => Promise<boolean>;
};

export type TurnAnswer = {
  body: string;
  sources: AnswerSource[];
  has_context: boolean;
  /** Whether it is one of those that are counted: an answer from documents, or the lack of one. */
  counted: boolean;
  escalate?: EscalationReason;
  record: TurnRecord;
};

type Said = Pick<TurnAnswer, 'body' | 'counted' | 'escalate'>;
/** Answers a message. @throws the error that keeps the documents from being searched, in the first attempts. */
export async function takeTurn(
  deps: AgentDeps,
  asked: Asked,
  listener: Listener,
  signal?: AbortSignal,
): Promise<TurnAnswer> {
  const began = performance.now();
  const fixed = async (said: Said): Promise<TurnAnswer> => {
    await listener.piece(said.body);
    return { ...said, sources: [], has_context: false, record: recordOf(asked, began) };
  };
  const alone = withoutDocuments(asked.body);
  if (alone) return fixed(alone);
  const language = languageOfCustomer(asked);
  if (!(await asked.allowed())) return fixed({ body: ownSentences.overTestLimit[language], counted: false });
  let found: Found;
  try {
    found = await findKnowledge(deps, asked, await understand(deps, asked, signal));
  } catch (error) {
    signal?.throwIfAborted();
    if (asked.attempt < attemptsToTell) throw error;
    return fixed({ body: ownSentences.outOfOrder[language], counted: false, escalate: 'failed' });
  }
  const made = await answerFrom(deps, asked, found, listener, signal);
  const { text, used } = made.written;
  const said: Said = text === undefined ? miss(asked.misses, language) : { body: text, counted: true };
  if (text === undefined) {
    await noteGap(deps, { ...asked, query: asked.body }, made.found);
    await listener.piece(said.body);
  }
  return {
    ...said,
    sources: sourcesOf(made.found.retrieval.hits, used),
    has_context: text !== undefined,
    record: recordOf(asked, began, made),
  };
}

/** Writes from what was found; when that changed while the model wrote, from what is found now, in its own sentences. */
async function answerFrom(
  deps: AgentDeps,
  asked: Asked,
  found: Found,
  listener: Listener,
  signal?: AbortSignal,
): Promise<Made> {
  const retrieved = performance.now();
  const written = await write(deps, asked, found, listener, signal);
  if (written.by.generated_by !== 'model' || !(await isOutdated(deps, asked, found)))
    return { found, retrieved, written };
  await listener.again();
  const anew = await findKnowledge(deps, asked, found.searched, findSupportConfig);
  const rewritten = await writeExtractive(asked, anew, listener);
  const by = { ...rewritten.by, model_error: 'The documents changed while it wrote.' };
  return { found: anew, retrieved, written: { ...rewritten, by } };
}

/** What needs no document: a call for a person, a courtesy. */
function withoutDocuments(body: string): Said | undefined {
  const language = asksForPerson(body);
  if (language) return { body: ownSentences.called[language], counted: false, escalate: 'asked' };
  const courtesy = courtesyIn(body);
  return courtesy && { body: ownSentences[courtesy.kind][courtesy.language], counted: false };
}

/** That of the message or, when it says too little, of the customer's last one that says enough. */
function languageOfCustomer({ body, history }: Asked): Language {
  const before = history.filter(({ role }) => role === 'customer').map((said) => said.body);
  return languageOfFirst([body, ...before.toReversed()]);
}

function miss(before: number, language: Language): Said {
  const last = before + 1 >= missesToEscalate;
  return last
    ? { body: ownSentences.notFoundAgain[language], counted: true, escalate: 'no_context' }
    : { body: ownSentences.notFound[language], counted: true };
}

/** The message as a question that is understood without the conversation. */
async function understand({ ai }: AgentDeps, { body, history }: Asked, signal?: AbortSignal): Promise<string> {
  if (ai.model && history.some(({ role }) => role === 'customer')) {
    try {
      return await ai.rewrite({ question: body, history }, { signal });
    } catch {
      signal?.throwIfAborted();
    }
  }
  return contextualize(body, history);
}
