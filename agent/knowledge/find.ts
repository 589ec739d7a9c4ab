import type { AgentDeps } from './deps.ts';
import { retrieve, type RetrieveDeps, type Retrieval } from './retrieve.ts';
import type { Turns } from '../../intelligence/intelligence.ts';
import { findSupportConfig, recentSupportConfig } from '../../models/integrations/supportconfig.ts';
import { findSentences } from '../../models/knowledge/chunk.ts';
import { findPassages } from '../../models/knowledge/knowledge.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { namedBy, type Offer } from '../../models/rules/knowledge/offers.ts';
import {
  chosen,
  passagesOf,
  stillReachable,
  type Judged,
  type Passage,
} from '../../models/rules/knowledge/retrieval.ts';
import { askedSegments } from '../../models/rules/knowledge/segments.ts';
import type { Asking } from '../../models/rules/language/asking.ts';

export type Question = {
  orgId: string;
  mode: Mode;
  query: string;
  /**
   * The segments to search, as the caller gives them. Undefined and blank segments are ignored. Without any segment,
   * all are searched.
   */
  segments: readonly (string | undefined)[];
  history: Turns;
  /** Whether to judge every candidate, even one too weak to matter, so that the whole ranking can be shown. */
  everything?: boolean | undefined;
  /**
   * If set, an unanswered question is not recorded as a gap: a member only tries the question out, or a recorded gap is
   * asked again.
   */
  tried?: boolean;
};

/**
 * A message may equal the heading of several passages, or name a table row in them. At most this many of these passages
 * are used as the answer.
 */
const maxNamed = 3;

/** The retrieved passages, and how they were found. */
export type Found = {
  searched: string;
  /** The searches for the question, in the order to try them. */
  askings: readonly Asking[];
  /** Earlier turns to which the question may refer. */
  context: readonly string[];
  /** The normalized segments that are searched; undefined when all are searched. */
  asked: string[] | undefined;
  strict: boolean;
  retrieval: Retrieval<Passage>;
};

export type FindOptions = {
  /**
   * Reads the organization's settings, which may be cached by default. A caller that retries after a change must not
   * use cached settings.
   */
  settings?: typeof findSupportConfig | undefined;
  /** An earlier offer that the message accepts. */
  offered?: Offer | undefined;
};

/**
 * Retrieves the passages that may answer. A message that equals the heading of a passage (`namedBy`), or accepts an
 * offered passage, is answered by that passage. `searched`, `askings` and `context` are results of reading the message.
 */
export async function findKnowledge(
  deps: Pick<AgentDeps, 'search' | 'embedding'>,
  question: Pick<Question, 'orgId' | 'mode' | 'segments' | 'everything'> & { body: string },
  { searched, askings, context }: Pick<Found, 'searched' | 'askings' | 'context'>,
  { settings = recentSupportConfig, offered }: FindOptions = {},
): Promise<Found> {
  const { orgId, mode, segments, everything = false, body } = question;
  const { kb_segment_strict: strict } = await settings(orgId);
  const asked = askedSegments(segments);
  const ask = { question: searched, askings, context, asked, strict, everything };
  const retrieval = await retrieve(retrieveDeps(deps, orgId, mode), ask);
  const named = offered
    ? retrieval.judged.filter(({ passage }) => passage.id === offered.passage)
    : namedBy(body, retrieval);
  if (offered && named.length === 0) {
    const [passage] = await findPassages(orgId, mode, [offered.passage]);
    if (passage && stillReachable(passage, { asked, strict })) named.push(chosen(passage));
  }
  if (named.length > 0) Object.assign(retrieval, answeredBy(named, offered?.question ?? body));
  return { searched, askings, context, asked, strict, retrieval };
}

/** A section that the customer asks for by its name counts as the answer, regardless of its relevance. */
function answeredBy(named: readonly Judged[], asking: string): Partial<Retrieval<Passage>> {
  const hits = named.slice(0, maxNamed).map((judged) => ({ ...judged, relevant: true }));
  return { confidence: 'high', hits, offers: [], authority: hits[0]!.passage.authority, asking };
}

/**
 * Whether a passage of the answer was deleted, replaced, or excluded by its tags or by `kb_segment_strict` while the
 * answer was written. If so, the answer must not be shown.
 */
export async function isOutdated(
  { orgId, mode }: Pick<Question, 'orgId' | 'mode'>,
  { retrieval, asked }: Pick<Found, 'retrieval' | 'asked'>,
): Promise<boolean> {
  const ids = passagesOf(retrieval).map(({ passage }) => passage.id);
  const [now, { kb_segment_strict: strict }] = await Promise.all([
    findPassages(orgId, mode, ids),
    findSupportConfig(orgId),
  ]);
  return now.filter((passage) => stillReachable(passage, { asked, strict })).length < ids.length;
}

export function retrieveDeps(
  { search, embedding }: Pick<AgentDeps, 'search' | 'embedding'>,
  orgId: string,
  mode: Mode,
) {
  const { model } = embedding;
  const table = { org_id: orgId, mode };
  const deps: RetrieveDeps<Passage> = {
    search: (ask) => search.query(table, ask),
    hydrate: (ids) => findPassages(orgId, mode, ids),
    tiers: () => search.tiers(table),
    sentences: (ids) => findSentences(orgId, mode, ids),
    ...(model === undefined ? {} : { embed: async (text) => ({ model, parts: await embedding.question(text) }) }),
  };
  return deps;
}
