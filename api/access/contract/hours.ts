/** Zod schemas of the hours in which a team answers. */
import { z } from 'zod';
import { orNull, timestamp, timezone } from '../../base/contract/common.ts';
import { maxAwayMessage, maxClosed, maxSpans, weekdays } from '../../../models/rules/access/hours.ts';
import { operation } from '../../base/contract/operation.ts';

const from = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'is a time such as 09:00');
const until = z.string().regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, 'is a time such as 17:30, or 24:00');
const spans = z
  .array(z.strictObject({ from, until }).refine((span) => span.from < span.until, 'ends before it begins'))
  .max(maxSpans);

export const hours = z
  .strictObject({
    timezone,
    week: z.strictObject(Object.fromEntries(weekdays.map((day) => [day, spans.optional()]))).meta({
      description: 'Local times of each day; a day that is left out is closed.',
    }),
    closed: z.array(z.iso.date()).max(maxClosed).meta({ description: 'Local dates on which nobody answers.' }),
    away_message: z.string().max(maxAwayMessage).regex(/\S/, 'must have something on it').nullable().meta({
      description: 'Told to customers outside the hours when a person is called, beside when somebody is back.',
    }),
  })
  .meta({ id: 'Hours' });
const hoursBody = z.strictObject({ hours: hours.nullable().meta({ description: 'Null: always there.' }) });
const hoursReply = z.object({
  hours: orNull(hours),
  open: z.boolean().meta({ description: 'Whether somebody answers now.' }),
  next_opening: orNull(timestamp).meta({ description: 'While it is closed.' }),
});

export const getHours = operation('getHours', 'GET /orgs/{orgId}/hours', { reply: hoursReply });
export const setHours = operation('setHours', 'PUT /orgs/{orgId}/hours', { body: hoursBody, reply: hoursReply });
