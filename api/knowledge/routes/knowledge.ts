/** Routes that ask the knowledge base, and that list the knowledge gaps: questions that it could not answer. */
import { answerQuestion, type KnowledgeAnswer } from '../../../agent/knowledge/answer.ts';
import { key } from '../../access/auth.ts';
import * as contract from '../contract/knowledge.ts';
import { afterPlace, defaultLimit, placedListPage } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { listGaps, setGapStatus, type GapGroup } from '../../../models/knowledge/gap.ts';
import { findPassages } from '../../../models/knowledge/knowledge.ts';
import type { Mode } from '../../../models/rules/access/keys.ts';

/** All numbers behind the decision to answer or not, for debugging. */
function explain({ searched, strict, retrieval, model_error }: KnowledgeAnswer, mode: Mode) {
  const { filter, terms, authority, degraded, judged, confidence, offers, thresholds } = retrieval;
  return {
    mode,
    searched,
    terms: terms.map(({ stem, weight }) => ({ stem, weight })),
    filter,
    strict,
    tier: authority,
    degraded,
    confidence,
    offers: offers.map(({ passage }) => passage.id),
    model_error,
    thresholds,
    candidates: judged.map(({ passage, candidate, features, coverage, strength, relevance, relevant }) => ({
      ...passage,
      segments: [...passage.segments],
      chunk_id: passage.id,
      text_score: candidate.text_score,
      cosines: candidate.cosines ? [...candidate.cosines] : null,
      features,
      coverage,
      strength,
      score: relevance,
      relevant,
    })),
  };
}

/** The passages that came closest to answering the gaps, if they still exist. */
async function passagesNear(orgId: string, gaps: readonly GapGroup[]) {
  const near = await Promise.all(
    [...Map.groupBy(gaps, ({ mode }) => mode)].map(([mode, those]) => {
      const ids = those.flatMap((gap) => (gap.near ?? []).map(({ chunk_id }) => chunk_id));
      return findPassages(orgId, mode, [...new Set(ids)]);
    }),
  );
  return new Map(near.flat().map(({ id, source_id, name, heading }) => [id, { source_id, name, heading }]));
}

/** The position of a gap group in the list: when its question was last asked, and the lowest id of its gaps. */
const placeOf = ({ last_asked, lowest_id }: GapGroup): string => `${last_asked.getTime()} ${lowest_id}`;

function place(cursor: string | undefined): Pick<GapGroup, 'last_asked' | 'lowest_id'> | undefined {
  const [at, id] = afterPlace(cursor, /^\d{1,15} gap_[0-9a-f]{26}$/)?.split(' ') ?? [];
  return at === undefined || id === undefined ? undefined : { last_asked: new Date(Number(at)), lowest_id: id };
}

export const knowledgeRoutes = [
  route(contract.queryKnowledge, {
    summary: 'Ask the knowledge base; the answer comes with its sources, or says that there are none.',
    auth: key('support:read'),
    limit: 'queries',
    // The reply is not stored for an `Idempotency-Key`, because a stored reply would still be returned after its source
    // documents were deleted.
    asksOnly: true,
    async handle({ params: { orgId }, body, principal: { mode, kind } }, ctx) {
      const answer = await answerQuestion(ctx, {
        orgId,
        mode,
        query: body.query,
        segments: [body.context?.productType, ...(body.segments ?? [])],
        history: body.conversation_history ?? [],
        everything: body.explain,
        tried: kind === 'member',
      });
      return { ...answer, ...(body.explain ? { explain: explain(answer, mode) } : {}) };
    },
  }),
  route(contract.listGaps, {
    summary: 'List questions that found no answer, grouped by what they ask, those asked last first.',
    auth: key('support:read'),
    async handle({ params: { orgId }, query, principal: { modes } }, ctx) {
      const limit = query.limit ?? defaultLimit;
      const { gaps, count } = await listGaps(orgId, modes, {
        limit: limit + 1,
        after: place(query.cursor),
        status: query.status,
        now: ctx.clock(),
      });
      const { entries, cursor } = placedListPage(gaps, limit, placeOf);
      const passages = await passagesNear(orgId, entries);
      return {
        gaps: entries.map((g) => ({
          ...g,
          near: (g.near ?? []).flatMap(({ chunk_id, score }) => {
            const passage = passages.get(chunk_id);
            return passage ? [{ ...passage, score }] : [];
          }),
        })),
        count,
        cursor,
      };
    },
  }),
  route(contract.setGapStatus, {
    summary: 'Acknowledge or resolve gaps; a resolved one opens again when it is asked again.',
    auth: key('support:write'),
    async handle({ params: { orgId }, body, principal: { modes } }) {
      return { updated: await setGapStatus(orgId, modes, body.gap_ids, body.status) };
    },
  }),
];
