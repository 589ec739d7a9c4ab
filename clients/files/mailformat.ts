/** What is read from a mail. The reading process imports only the type, because it does not load zod. */
import { z } from 'zod';

export const mailContent = z.object({
  /** The author that `From` names; both fields are empty when `From` names no author or more than one. */
  from: z.object({ name: z.string(), address: z.string() }),
  subject: z.string(),
  message_id: z.string(),
  in_reply_to: z.array(z.string()),
  references: z.array(z.string()),
  /**
   * The domain whose valid DKIM signature confirms the author, as a header in the receiving service's name says; empty
   * when there is none. A sender can forge the header, so the service's own verdict on DKIM must confirm it.
   */
  signed_by: z.string(),
  /** The headers that tell whether a program wrote the mail, in order, with names in lower case. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  /** The author's text without quotations. */
  text: z.string(),
  /** The whole text with quotations. */
  full_text: z.string(),
  attachments: z.array(z.object({ filename: z.string(), mime_type: z.string(), bytes: z.int() })),
});
export type ReadMail = z.infer<typeof mailContent>;
