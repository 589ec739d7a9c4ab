/**
 * The agent's turn in a conversation: what it says to a message, whether it calls a person, and how that came about. It
 * keeps nothing and sends nothing itself; whoever calls it shows the pieces and stores the answer.
 */
import {
  findKnowledge,
  groundsOf,
  isOutdated,
  noteGap,
  sourcesOf,
  type AgentDeps,
  type AnswerSource,
} from './answer.ts';
import type { Found, Turns } from './answer.ts';
import { gathered } from './gathered.ts';
import type { AnswerAsk } from '../clients/ai/ai.ts';
import type { Asker } from '../models/knowledge/gap.ts';
import { missesToEscalate, type EscalationReason } from '../models/rules/chat/conversation.ts';
import { courtesyIn, ownSentences } from '../models/rules/language/escalation.ts';
import { Problem } from '../models/rules/base/errors.ts';
import { extract } from '../models/rules/knowledge/extractive.ts';
import type { Mode } from '../models/rules/access/keys.ts';
import { languageOfFirst, type Language } from '../models/rules/language/language.ts';
import { asksForPerson } from '../models/rules/language/personcall.ts';
import { createReplyStream, plainReply } from '../models/rules/chat/replytext.ts';
import { contextualize } from '../models/rules/language/question.ts';
import { findSupportConfig } from '../models/knowledge/supportconfig.ts';

/** Pieces of an answer are gathered this long: each is a frame that is stored and sent to every socket. */
const GATHER_MS = 40;
/** Attempts after which documents that cannot be asked are an outage that a customer is told of. */
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

/** Where the text goes while it is written. What was given before `again` is void. */
export type Listener = { piece(text: string): Promise<void>; again(): Promise<void> };

/** How an answer came about, for members. Times in ms. */
export type TurnRecord = {
  /** The question as it was searched; null: no document was asked. */
  searched: string | null;
  retrieved: { source_id: string; chunk_id: string; name: string; score: number; relevant: boolean; used: boolean }[];
  /** Ids of the passages that were there to answer from. */
  shown: string[];
  tools: never[];
  tier: string | null;
  strict: boolean | null;
  segments: readonly string[];
  generated_by: 'extractive' | 'model' | 'fixed';
  model?: string;
  /** Why the configured model did not write it. */
  model_error?: string;
  attempts: number;
  ms: { retrieve: number; answer: number; total: number };
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
/** `text` is undefined when the passages do not answer. */
type Written = {
  text: string | undefined;
  used: string[];
  by: Pick<TurnRecord, 'generated_by' | 'model' | 'model_error'>;
};

/** Answers a message. @throws whatever keeps the documents from being asked, until it was tried often enough. */
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
  const retrieved = performance.now();
  let written = await write(deps, asked, found, listener, signal);
  if (written.by.generated_by === 'model' && (await isOutdated(deps, asked, found))) {
    await listener.again();
    found = await findKnowledge(deps, asked, found.searched, findSupportConfig);
    written = await writeExtractive(asked, found, listener);
    written.by.model_error = 'The documents changed while it wrote.';
  }
  const { text } = written;
  const said: Said = text === undefined ? miss(asked.misses, language) : { body: text, counted: true };
  if (text === undefined) {
    await noteGap(deps, { ...asked, query: asked.body }, found);
    await listener.piece(said.body);
  }
  return {
    ...said,
    sources: sourcesOf(found.retrieval.hits, written.used),
    has_context: text !== undefined,
    record: recordOf(asked, began, { found, retrieved, written }),
  };
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

/** The answer that the passages give, by the model or in their own sentences; undefined when they do not answer. */
async function write(
  deps: AgentDeps,
  asked: Asked,
  found: Found,
  listener: Listener,
  signal?: AbortSignal,
): Promise<Written> {
  const { ai } = deps;
  if (found.retrieval.hits.length === 0) return { text: undefined, used: [], by: { generated_by: 'fixed' } };
  if (!ai.model) return writeExtractive(asked, found, listener);
  let heard = false;
  const noting: Listener = {
    piece: (text) => ((heard = true), listener.piece(text)),
    again: () => ((heard = false), listener.again()),
  };
  try {
    return await writeByModel(deps, asked, found, noting, signal);
  } catch (error) {
    signal?.throwIfAborted();
    // What a frame could not say is no failure of the model.
    if (!(error instanceof Problem)) throw error;
    if (heard) await listener.again();
    const written = await writeExtractive(asked, found, listener);
    return { ...written, by: { ...written.by, model_error: error.message } };
  }
}

async function writeExtractive(
  { body }: Asked,
  { retrieval: { asking, hits } }: Found,
  listener: Listener,
): Promise<Written> {
  const answer = extract(
    asking,
    hits.map(({ passage }) => passage),
  );
  if (!answer) return { text: undefined, used: [], by: { generated_by: 'fixed' } };
  const text = plainReply(answer.text, groundsOf(body, hits));
  await listener.piece(text);
  return { text, used: answer.used, by: { generated_by: 'extractive' } };
}

async function writeByModel(
  { ai }: AgentDeps,
  { body, history, situation }: Asked,
  { retrieval: { hits } }: Found,
  listener: Listener,
  signal?: AbortSignal,
): Promise<Written> {
  const grounds = groundsOf(body, hits);
  let stream = createReplyStream(grounds);
  let heard = false;
  const show = async (text: string) => {
    if (text !== '') await listener.piece(text);
    heard ||= text !== '';
  };
  const ask: AnswerAsk = { question: body, history, hits: hits.map(({ passage }) => passage), situation };
  const over = new AbortController();
  const until = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    for await (const event of gathered(ai.stream(ask, { signal: until }), GATHER_MS)) {
      if (event.type === 'text') await show(stream.push(event.text));
      else if (event.type === 'restart') {
        stream = createReplyStream(grounds);
        if (heard) await listener.again();
        heard = false;
      } else {
        const { text, used, has_context } = event.answer;
        if (!has_context) return { text: undefined, used: [], by: { generated_by: 'fixed', model: ai.model! } };
        await show(stream.end());
        return { text: plainReply(text, grounds), used, by: { generated_by: 'model', model: ai.model! } };
      }
    }
    throw new Problem('MODEL_FAILED');
  } finally {
    // Whatever ended this, the endpoint need not write on.
    over.abort();
  }
}

function recordOf(
  { segments, attempt }: Asked,
  began: number,
  made?: { found: Found; retrieved: number; written: Written },
): TurnRecord {
  const now = performance.now();
  const ms = (from: number, to: number): number => Math.round((to - from) * 10) / 10;
  const times = { retrieve: made ? ms(began, made.retrieved) : 0, answer: made ? ms(made.retrieved, now) : 0 };
  const { judged = [], hits = [] } = made?.found.retrieval ?? {};
  return {
    searched: made?.found.searched ?? null,
    retrieved: judged.map(({ passage, relevance, relevant }) => ({
      source_id: passage.source_id,
      chunk_id: passage.id,
      name: passage.name,
      score: Math.round(relevance * 1000) / 1000,
      relevant,
      used: made?.written.used.includes(passage.id) ?? false,
    })),
    shown: hits.map(({ passage }) => passage.id),
    tools: [],
    tier: made?.found.tier ?? null,
    strict: made?.found.strict ?? null,
    segments,
    ...(made?.written.by ?? { generated_by: 'fixed' }),
    attempts: attempt,
    ms: { ...times, total: ms(began, now) },
  };
}
