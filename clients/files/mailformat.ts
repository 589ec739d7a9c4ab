/** The result of the process that reads mails, apart from the parsers, which only that process loads. */
import type { MailHeader } from '../../models/rules/events/mailin.ts';

export type MailAttachment = { filename: string; mime_type: string; bytes: number };

export type ReadMail = {
  /** The address in `From`; empty when there is none or several. */
  from: { name: string; address: string };
  subject: string;
  message_id: string;
  in_reply_to: string[];
  references: string[];
  /**
   * The domain whose signature confirms the author, by the receiving service's findings; empty when there is none. It
   * counts only if that service also confirmed a signature.
   */
  signed_by: string;
  /** The headers that show whether a program wrote it, in order, names in lower case. */
  headers: MailHeader[];
  /** The author's own text. */
  text: string;
  /** The whole text with its quotations. */
  full_text: string;
  attachments: MailAttachment[];
};

/** The largest mail that is read, in bytes. */
export const maxMailBytes = 10 * 1024 * 1024;
