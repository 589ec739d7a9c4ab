/** Zod schemas of questions to the knowledge base, and of the questions that it could not answer. */
import { z } from 'zod';
import { cursor, id, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { segments } from './documents.ts';
import { authorities, sourceTypes } from '../../../models/rules/knowledge/authority.ts';
import { confidences, maxOffers } from '../../../models/rules/knowledge/retrieval.ts';
import { gapReasons, gapStatuses } from '../../../models/rules/knowledge/gap.ts';
import { operation } from '../../base/contract/operation.ts';

export const queryBody = z.strictObject({
  query: z.string().min(1).max(2000).regex(/\S/, 'must hold a question'),
  context: z
    .strictObject({ productType: z.string().max(200).optional() })
    .optional()
    .meta({ description: '`productType` is the segment that is searched, together with the shared ones.' }),
  segments: segments.optional().meta({ description: 'Further segments to search.' }),
  conversation_history: z
    .array(z.strictObject({ role: z.enum(['customer', 'ai', 'agent', 'system']), body: z.string().max(8000) }))
    .max(50)
    .optional()
    .meta({ description: 'What was said before, oldest first, so that a follow-up question is understood.' }),
  explain: z.boolean().optional().meta({ description: 'Also show how the answer was found.' }),
});

const tier = z.enum(authorities);
const explanation = z.object({
  mode,
  searched: z.string().meta({ description: 'The question as it was searched, with what a follow-up refers to.' }),
  terms: z.array(z.object({ stem: z.string(), weight: z.number() })),
  filter: orNull(z.object({ tags: z.array(z.string()), untagged: z.boolean() })).meta({
    description: 'Sources with one of these tags, or with none when `untagged`; null: all.',
  }),
  strict: z.boolean(),
  tier: orNull(tier).meta({ description: 'The priority that answered.' }),
  degraded: z
    .boolean()
    .meta({ description: 'The embedding model did not answer, so passages were found by words and only offered.' }),
  confidence: z.enum(confidences).meta({
    description: '`high`: the best passage answers; `low`: it may help; `none`: nothing here does.',
  }),
  offers: z.array(z.string()).meta({ description: 'With low confidence, ids of the passages that are offered.' }),
  model_error: orNull(z.string()).meta({
    description:
      'Why a configured model did not write the answer, which then is in the sources’ own sentences; else null.',
  }),
  thresholds: orNull(z.object({ answer: z.number(), offer: z.number() })).meta({
    description: 'The scores from which on a passage answers, or is offered; null: words alone decide.',
  }),
  candidates: z.array(
    z.object({
      chunk_id: z.string(),
      source_id: z.string(),
      name: z.string(),
      heading: z.string(),
      text: z.string(),
      authority: tier,
      segments: z.array(z.string()),
      text_score: orNull(z.number()),
      cosines: z.array(z.number()).nullable().meta({
        description:
          'How near it is to the question by meaning: the cosine by each embedding model; null: the passage has no vector yet, or nothing is compared by meaning.',
      }),
      features: orNull(z.object({ above: z.number(), share: z.number(), foreign: z.number() })).meta({
        description:
          'What the probability is made of: how far the passage lies above what is usual here, the share of the rare words of the question that it speaks of, and whether the question is not in English; null: words alone decide.',
      }),
      coverage: z.number(),
      strength: z.number(),
      score: z.number().meta({ description: 'Where meaning decides, the probability that the passage answers.' }),
      relevant: z.boolean(),
    }),
  ),
});

export const confidencesOfAnswers = ['high', 'low'] as const;
export const offer = z
  .object({
    heading: z.string().meta({ description: 'What it is about, in the words of its document.' }),
    question: z.string().meta({ description: 'To be asked as it is: the answer is then of high confidence.' }),
    says: z.string().meta({ description: 'What it says about the question, in one line.' }),
    source: z.object({ type: z.enum(sourceTypes), id, name: z.string(), url: z.string().optional() }),
  })
  .meta({ id: 'Offer' });

export const queryReply = z.object({
  answer: z.string(),
  sources: z.array(
    z.object({
      type: z.enum(sourceTypes),
      id,
      name: z.string(),
      title: z.string().optional().meta({ description: 'Of a document: what customers see instead of its name.' }),
      url: z.string().optional().meta({ description: 'Where people can read it.' }),
      score: z.number().min(0).max(1),
    }),
  ),
  has_context: z.boolean(),
  confidence: z.enum(confidencesOfAnswers).optional().meta({
    description: 'With context only. `low`: nothing surely answers, and `answer` and `offers` name what may help.',
  }),
  offers: z
    .array(offer)
    .max(maxOffers)
    .optional()
    .meta({ description: 'With low confidence only, the nearest first.' }),
  generated_by: z.enum(['extractive', 'model']),
  degraded: z.boolean().meta({
    description:
      'An embedding was late or refused. Where it is missing, passages were found by words and only offered. Asking again may help.',
  }),
  explain: explanation.optional(),
});

const gapsQuery = pageQuery.extend({
  status: z.enum(gapStatuses).optional().meta({ description: 'Only those with this status.' }),
});
export const gap = z
  .object({
    question: z.string(),
    count: z.number().int(),
    first_asked: timestamp,
    last_asked: timestamp,
    why_missing: z.enum(gapReasons),
    near: z
      .array(z.object({ source_id: id, name: z.string(), heading: z.string(), score: z.number() }))
      .meta({ description: 'The passages that came nearest, at most three, as far as they are still there.' }),
    gap_ids: z.array(id).meta({ description: 'Of its wordings, at most 100; each stands for the whole gap.' }),
    status: z.enum(gapStatuses),
  })
  .meta({ id: 'Gap' });
const gapList = z.object({ gaps: z.array(gap), count: z.number().int(), cursor });
const gapsBody = z.strictObject({ gap_ids: z.array(id).min(1).max(500), status: z.enum(gapStatuses) });
const gapsChanged = z.object({
  updated: z.number().int().meta({ description: 'Wordings of the gaps of `gap_ids`.' }),
});

export type Gap = z.output<typeof gap>;

export const queryKnowledge = operation('queryKnowledge', 'POST /orgs/{orgId}/kb/query', {
  body: queryBody,
  reply: queryReply,
});
export const listGaps = operation('listGaps', 'GET /orgs/{orgId}/kb/gaps', { query: gapsQuery, reply: gapList });
export const setGapStatus = operation('setGapStatus', 'PATCH /orgs/{orgId}/kb/gaps', {
  body: gapsBody,
  reply: gapsChanged,
});
