/** Zod schemas of the tools at `/v1/mcp`, which an organization's agents call. The descriptions are read by models. */
import { z } from 'zod';
import { id } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { queryBody, queryReply } from '../../knowledge/contract/knowledge.ts';
import { confidences } from '../../../models/rules/knowledge/retrieval.ts';

const { query, segments, conversation_history } = queryBody.shape;
const { answer, sources, has_context, confidence, offers, degraded } = queryReply.shape;
/** The most passages of one search, and the default. */
const maxPassages = 20;
export const defaultPassages = 8;

export const askArguments = z.strictObject({
  question: query.meta({ description: 'The question, in the words of the customer and in any language.' }),
  segments: segments.optional().meta({ description: 'Products whose documents may answer, beside the shared ones.' }),
  conversation_history,
});
export const askResult = z.object({ answer, sources, has_context, confidence, offers, degraded, mode });

export const searchArguments = z.strictObject({
  query: query.meta({ description: 'What is looked for, as a question or in key words.' }),
  segments: segments.optional().meta({ description: 'Products whose documents are searched, beside the shared ones.' }),
  limit: z
    .number()
    .int()
    .min(1)
    .max(maxPassages)
    .optional()
    .meta({ description: `Passages at most; ${defaultPassages} unless told.` }),
});
export const searchResult = z.object({
  confidence: z.enum(confidences).meta({
    description: '`high`: the passages answer; `low`: they may help; `none`: there are none that do.',
  }),
  passages: z.array(
    z.object({
      source: z.object({ type: sources.element.shape.type, id, name: z.string(), url: z.string().optional() }),
      heading: z.string(),
      text: z.string(),
      score: z.number().meta({ description: 'How likely it answers, from 0 to 1.' }),
    }),
  ),
  mode,
});
