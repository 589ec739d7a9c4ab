/** What the process that reads mails gives back, apart from the parsers, which only that process loads. */
import type { MailHeader } from '../../models/rules/events/mailin.ts';

export type MailAttachment = { filename: string; mime_type: string; bytes: number };

export type ReadMail = {
  /** Of the header `From`; empty when there is none or several. */
  from: { name: string; address: string };
  subject: string;
  message_id: string;
  in_reply_to: string[];
  references: string[];
  /**
   * The domain whose signature speaks for the author, as the receiving service found; empty when there is none. It counts only
   * where that service also confirmed that a signature holds.
   */
  signed_by: string;
  /** Those that tell whether a program wrote it, in their order, names in lower case. */
  headers: MailHeader[];
  /** What its author wrote. */
  text: string;
  /** All of it, with what it quotes. */
  full_text: string;
  attachments: MailAttachment[];
};

/** The largest mail that is read, in bytes. */
export const maxMailBytes = 10 * 1024 * 1024;
