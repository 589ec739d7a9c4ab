/** By which server, and in whose name, an organization's mails are sent: its own where it connected one, else the deployment's. */
import type { MailRoute } from '../../clients/mail/mail.ts';
import type { Mailbox } from '../../models/rules/events/mailbox.ts';
import type { SmtpServer } from '../../models/rules/events/smtp.ts';

export type MailSettings = {
  /** The deployment's server; without one and one of the organization's own nothing is sent. */
  server: SmtpServer | undefined;
  from: Mailbox | undefined;
  /** Where reply addresses live; without it customers cannot answer. */
  replyDomain: string | undefined;
  /** Signs reply addresses. */
  tokenKey: Buffer;
};
export type MailDeps = { mail: MailSettings };

/** Whose server sends a mail: it was written in the name that goes with that server. */
export type MailVia = 'deployment' | 'organization';

/** Whose server sends an organization's mails now. */
export async function serverOf(_deps: MailDeps, _orgId: string): Promise<MailVia> {
  return 'deployment';
}

/** Who an organization's mails come from. */
export async function fromOf({ mail: { from, replyDomain } }: MailDeps, _orgId: string): Promise<Mailbox> {
  return from ?? { name: '', address: `support@${replyDomain ?? 'localhost.invalid'}` };
}

/** The server for a mail; undefined when there is none. `refused` notes that the server refuses the credentials. */
export async function routeOf(
  { mail: { server } }: MailDeps,
  _orgId: string,
  _payload: { via: MailVia },
): Promise<(MailRoute & { refused?(reason: string): Promise<void> }) | undefined> {
  return server && { server, own: true };
}
