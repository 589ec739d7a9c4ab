import { z } from 'zod';
import { cursor, id, moment, pageQuery, timestamp } from '../../base/contract/common.ts';
import { maxSearchLength, searchPlaces } from '../../../models/rules/chat/search.ts';
import { operation } from '../../base/contract/operation.ts';

const searchQuery = pageQuery.extend({
  q: z
    .string()
    .max(maxSearchLength)
    .regex(/[\p{L}\p{N}]/u, 'must have a word in it')
    .meta({
      description: 'Words, of which each must occur, whole, in any case and with any accents; or the id of a customer.',
    }),
  from: moment.optional().meta({ description: 'Only what was written from then on.' }),
  until: moment.optional().meta({ description: 'And until then.' }),
});
const searchReply = z.object({
  hits: z.array(
    z.object({
      conv_id: id,
      in: z.enum(searchPlaces).meta({ description: 'Where it was found; `customer`: name or address.' }),
      message_id: id.nullable().meta({ description: 'Of a message.' }),
      at: timestamp,
      excerpt: z.string(),
      marks: z.array(z.array(z.number().int()).length(2)).meta({
        description: 'Where the words stand in the excerpt: start and end, in UTF-16 code units.',
      }),
    }),
  ),
  cursor,
});

export const searchInbox = operation('searchInbox', 'GET /support/search/orgs/{orgId}', {
  query: searchQuery,
  reply: searchReply,
});
