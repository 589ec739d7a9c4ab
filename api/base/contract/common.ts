/** Zod schemas that requests and replies share: times, pages, errors, and the warning about a live key in test mode. */
import { z } from 'zod';
import { isTimeZone } from '../../../models/rules/base/timezone.ts';

const utc = z.iso.datetime({ precision: 3 });
/** A time in a reply: ISO 8601 in UTC, with milliseconds. A handler returns it as a date or in this form. */
export const timestamp = z
  .union([z.date(), utc])
  .transform((at) => new Date(at).toISOString())
  .pipe(utc);
/** A field of a reply that is null when the handler leaves it out. */
export const orNull = <S extends z.ZodType>(schema: S) => schema.nullable().prefault(null);
/**
 * Whether the time is in the years 0 to 9999 in UTC, the only ones that a reply can show. An offset can shift a time
 * out of these years. A text that is not a time passes, because the schema has already refused it.
 */
function hasShortYear(text: string): boolean {
  const year = new Date(text).getUTCFullYear();
  return !(year < 0 || year > 9999);
}
/** A time in a request: ISO 8601 with any offset. */
export const moment = z.iso
  .datetime({ offset: true })
  .refine(hasShortYear, 'must lie between the years 0000 and 9999 in UTC');
export const id = z.string().min(1).max(100);
/** A redirect has a `Location` header and no body. */
export const redirectReply = z.object({});

/**
 * Control characters, line ends, and characters that change the direction of writing, which can make a name look like
 * another one.
 */
const unprintable = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`;
const blank = String.raw` \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff`;
/** The first two character classes have no character in common, so that a long text is refused in linear time. */
const oneLine = new RegExp(`^[${blank}]*[^${blank}${unprintable}][^${unprintable}]*$`);

/** One line of text; blanks at its ends are allowed and kept. */
export const line = (max: number) =>
  z.string().min(1).max(max).regex(oneLine, 'must be one line with something on it, without control characters');

/** An IANA name, such as `Europe/Berlin`. */
export const timezone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'is not a time zone; use a name such as Europe/Berlin, or UTC');

/** The most entries on a page of a list; a higher `limit` is reduced to this. */
const maxPageEntries = 100;

export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .overwrite((asked) => Math.min(asked, maxPageEntries))
    .optional()
    .meta({ description: `Entries a page; 20 unless told, and never more than ${maxPageEntries}.` }),
  cursor: z.string().max(400).optional().meta({ description: 'The `cursor` of the page before.' }),
});
export const cursor = z.string().nullable();

export const warning = z
  .object({ code: z.literal('LIVE_KEY_NOT_ACTIVE'), message: z.string() })
  .meta({ id: 'Warning', description: 'A live key was used before the organization is live; it acted as a test key.' });

export const errorReply = z
  .object({
    error: z.string(),
    code: z.string().optional(),
    details: z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).optional(),
    feature: z.string().optional(),
    from: z.string().optional().meta({ description: 'Of ILLEGAL_TRANSITION: the state it is in.' }),
    operation: z.string().optional().meta({ description: 'Of ILLEGAL_TRANSITION: what was asked for.' }),
    allowed: z.array(z.string()).optional().meta({ description: 'Of ILLEGAL_TRANSITION: what is possible.' }),
    request_id: z.string(),
  })
  .meta({ id: 'Error' });
