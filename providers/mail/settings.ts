/** By which server, and in whose name, an organization's mails are sent: its own where it connected one, else the deployment's. */
import type { Logger } from 'pino';
import { breakConnection } from '../base/broken.ts';
import type { MailRoute } from './client.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { credentialsOf, findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { readMailbox, type Mailbox } from '../../models/rules/access/mailbox.ts';
import type { ReplySeparator } from '../../models/rules/events/replyaddress.ts';
import { readSmtpUrl, type SmtpServer } from './rules.ts';

export type MailSettings = {
  /** The deployment's server; without one and one of the organization's own nothing is sent. */
  server: SmtpServer | undefined;
  from: Mailbox | undefined;
  /** Where reply addresses live; without it customers cannot answer. */
  replyDomain: string | undefined;
  /** Between `reply` and the token. */
  replySeparator: ReplySeparator;
  /** Mails to people outside that an organization may send a day, and an account. */
  outsidePerDay: number;
};
export type MailDeps = { mail: MailSettings };

/** Whose server sends a mail: it was written in the name that goes with that server. */
export type MailVia = 'deployment' | 'organization';

/** An organization's own server that is not disconnected; one that is broken may have been mended at the other end. */
async function ownOf(orgId: string): Promise<(Integration & { sealed: string }) | undefined> {
  const found = await findIntegration(orgId, 'email');
  return found?.sealed === undefined ? undefined : { ...found, sealed: found.sealed };
}

/** Who an organization's mails come from, and by whose server they go now. */
export async function senderOf(
  { mail: { from, replyDomain } }: MailDeps,
  orgId: string,
): Promise<{ from: Mailbox; via: MailVia }> {
  const own = readMailbox(String((await ownOf(orgId))?.settings['from']));
  if (own) return { from: own, via: 'organization' };
  return { from: from ?? { name: '', address: `support@${replyDomain ?? 'localhost.invalid'}` }, via: 'deployment' };
}

export type RouteDeps = MailDeps & { secrets: SecretBox; clock: () => Date; log: Logger };

export type RouteOf = MailRoute & { refused?(reason: string): Promise<void> };

/**
 * The server for a mail; undefined when there is none, also when the organization has disconnected the one that goes with the
 * mail's sender. `refused` notes that the server refuses the credentials.
 */
export async function routeOf(deps: RouteDeps, orgId: string, via: MailVia): Promise<RouteOf | undefined> {
  const { server } = deps.mail;
  if (via === 'deployment') return server && { server, own: true };
  const integration = await ownOf(orgId);
  if (!integration) return undefined;
  const own = readSmtpUrl((credentialsOf(integration, deps.secrets) as { smtp_url: string }).smtp_url);
  return own && { server: own, own: false, refused: (reason) => breakConnection(integration, reason, deps) };
}
