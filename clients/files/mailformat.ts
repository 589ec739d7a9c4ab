/** The type of a parsed mail. It is in a separate file, because only the reading process loads the parsers. */
import type { MailHeader } from '../../models/rules/events/mailin.ts';

export type MailAttachment = { filename: string; mime_type: string; bytes: number };

export type ReadMail = {
  /** The author that `From` names; both fields are empty when it names none or more than one. */
  from: { name: string; address: string };
  subject: string;
  message_id: string;
  in_reply_to: string[];
  references: string[];
  /**
   * The domain whose DKIM signature confirms the author, according to the receiving service; empty when there is none.
   * Trust it only if that service's own verdict also says that a signature is valid.
   */
  signed_by: string;
  /** The headers that tell whether a program wrote the mail, in order, with names in lower case. */
  headers: MailHeader[];
  /** The author's text without quotations. */
  text: string;
  /** The whole text with quotations. */
  full_text: string;
  attachments: MailAttachment[];
};

/** Maximum size of a mail, in bytes. */
export const maxMailBytes = 10 * 1024 * 1024;
