/** Parses Amazon SES's report about a received mail: the JSON text inside an SNS notification. */
import { z } from 'zod';
import { jsonIn } from '../../models/rules/base/json.ts';

const verdict = z.object({ status: z.string() }).optional();
const name = z.string().max(2_000);

const received = z.object({
  notificationType: z.literal('Received'),
  receipt: z.object({
    recipients: z.array(name).max(500),
    spamVerdict: verdict,
    virusVerdict: verdict,
    dkimVerdict: verdict,
    dmarcVerdict: verdict,
    action: z.object({
      type: z.string(),
      bucketName: name.optional(),
      objectKey: name.optional(),
      encoding: z.string().optional(),
    }),
  }),
  mail: z.object({
    messageId: name,
    source: z.string().max(2_000).nullish(),
    headers: z
      .array(z.object({ name: z.string(), value: z.string() }))
      .max(10_000)
      .optional(),
  }),
  content: z.string().optional(),
});

export type SesReceived = z.infer<typeof received>;

/** The report about a received mail; undefined for any other notification, such as one about a bounce. */
export const readSes = (text: string): SesReceived | undefined => received.safeParse(jsonIn(text)).data;

/**
 * The mail's bytes, when the notification contains them. The receipt rule decides whether they are plain text or
 * base64.
 */
export function contentOf({ content, receipt }: SesReceived): Buffer | undefined {
  if (content === undefined) return undefined;
  const declared = /base64/i.test(receipt.action.encoding ?? '');
  // A raw mail starts with headers, which contain colons; base64 has none.
  const looksEncoded = /^[A-Za-z0-9+/=\r\n]+$/.test(content.slice(0, 4_096)) && content.trim() !== '';
  return declared || looksEncoded ? Buffer.from(content, 'base64') : Buffer.from(content, 'utf8');
}
