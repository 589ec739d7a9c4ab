/** Reads what Amazon SES tells about a mail that it received: the JSON text in a notification of SNS. */
import { z } from 'zod';

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

/** Undefined for anything else, such as a notification of a bounce. */
export function readSes(text: string): SesReceived | undefined {
  try {
    return received.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The mail's bytes, where the notification holds it: as text, or in base64 as the receipt rule may say. */
export function contentOf({ content, receipt }: SesReceived): Buffer | undefined {
  if (content === undefined) return undefined;
  const declared = /base64/i.test(receipt.action.encoding ?? '');
  // A mail begins with a header, which has a colon.
  const looksEncoded = /^[A-Za-z0-9+/=\r\n]+$/.test(content.slice(0, 4_096)) && content.trim() !== '';
  return declared || looksEncoded ? Buffer.from(content, 'base64') : Buffer.from(content, 'utf8');
}
